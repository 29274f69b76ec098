"""Images of one Gaussian bump: positions to images, images to positions, and each factor alone."""
