"""scikit-learn's checks of arrays of other libraries."""

import pytest


def libraries(check):
    """Return the names of the array libraries that one of scikit-learn's checks needs."""
    options = getattr(check, "keywords", {})
    places = [options[name].xp for name in ("X_ns_and_device", "other_ns_and_device") if name in options]
    return [options["array_namespace"]] if "array_namespace" in options else places


def run_with_host_attributes(check, estimator):
    """Run a check of an estimator some of whose attributes are NumPy arrays, whatever X is.

    Row numbers, alphas and scores are for the host. The check asks for arrays of the namespace of X.
    """
    if check.func.__name__ == "check_array_api_input" and libraries(check) != ["numpy"]:
        with pytest.raises(AssertionError, match=r"'(alphas_|basis_indices_)' attribute is in wrong namespace"):
            check(estimator)
    else:
        check(estimator)
