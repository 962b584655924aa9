"""The learners inside other libraries: scikit-learn and River."""
