"""Teachers made of named features, and tasks on which networks learn from them (Lippl & Lindsey 2024)."""
