"""Forecasts: what to expect of a trained model on unseen cells, from the split and its labels alone.

`salience_profile` says how much the model is assumed to attend to each set of factors; the other files each forecast
one thing under that assumption.
"""
