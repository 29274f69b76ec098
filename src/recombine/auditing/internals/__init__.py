"""Inside a model: running it, the activity and geometry of its layers, and their derivatives along factors."""
