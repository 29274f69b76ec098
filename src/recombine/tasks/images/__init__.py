"""Classes of images to draw examples from, and symbols shown as images."""
