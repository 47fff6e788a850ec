"""Mutants: one-line defects, by the file that they are put into and the tests that are to notice.

A mutant is a text that occurs once in a file, and what takes its place. The tests named are those of the file's own
folder and of what uses it most directly; tests that are likely to fail come first.
"""

LEAST_SQUARES = "tests/estimators/test_rls.py tests/solvers/test_hold_out.py tests/estimators/test_rls_hold_out.py"
HOLD_OUTS = f"{LEAST_SQUARES} tests/estimators/test_rls_ties.py tests/estimators/test_rls_edge_cases.py"
BASES = "tests/estimators/test_rls_held_out_basis.py"
SQUARED_HINGES = "tests/estimators/test_rank_svm_squared_hinge.py"
HINGES = "tests/losses tests/solvers/test_bundle.py tests/solvers/test_newton.py"
BUNDLES = " ".join(
    [
        f"tests/solvers/test_{name}.py"
        for name in ("kernel_products", "bundle", "cuts", "model", "goal", "large_features")
    ]
    + ["tests/estimators/test_kernel_certificate.py", "tests/estimators/test_rank_svm.py"]
)
NEWTONS = (
    f"tests/solvers/test_newton.py tests/solvers/test_kernel_products.py {SQUARED_HINGES}"
    " tests/estimators/test_kernel_certificate.py"
)
GRAPHS = "tests/estimators/test_rls_pairs.py tests/estimators/test_fit_pairs.py tests/pairs"
CORE = "tests/pairs tests/losses"

STORES = "tests/io/test_row_store.py tests/estimators/test_stored_rows.py"

PARTS = "tests/solvers/test_parted.py"
EXPORTS = "tests/export tests/cli/test_export.py"
DASK = "tests/dask/test_dask_rank_svm.py tests/dask/test_dask_rank_svm_cv.py tests/dask/test_dask_rank_rls.py"

RELATIONAL = "tests/relational/test_kronecker_rls.py tests/solvers/test_separation.py"

MUTANTS = {
    "src/kernelrank/export/_form.py": (
        EXPORTS,
        [
            ("missing = (self.missing - centre) * factor + shift\n        if", "missing = self.missing\n        if"),
            ("centre = self.centre + centre / self.factor", "centre = self.centre + centre"),
            ("if self.shift == 0 and self.factor != 0:", "if False:"),
            ("shift=(self.shift - centre) * factor + shift", "shift=self.shift * factor + shift"),
            ("scale(self.unknown), scale(self.missing)", "scale(self.unknown), self.missing"),
            ("scale(self.other), scale", "self.other, scale"),
            ("table[place] += (value - feature.other) * weight", "table[place] += value * weight"),
            ("+= feature.unknown * weight", "+= feature.other * weight"),
            ("+= feature.missing * weight", "+= feature.unknown * weight"),
        ],
    ),
    "src/kernelrank/export/_steps.py": (
        EXPORTS,
        [
            ("made if weight == 1 else", "made if True else"),
            ("centre, factor, low) for", "centre, factor) for"),
            ("step.mean_ if step.with_mean else None", "step.mean_"),
            ("step.center_ if step.with_centering else None", "None"),
            ("if not _is_missing(pair[1])]", "if True]"),
            ("(0 if rare is None else len(rare) - 1) - (drop is not None)", "(0 if rare is None else len(rare) - 1)"),
            ("if len(gaps) > 1:", "if False:"),
            ("if feature.fill is not None:", "if False:"),
            ("by_place.pop(len(known), 0.0) if gaps else", "by_place.get(0, 0.0) if gaps else"),
            ('if step.handle_unknown == "error":', "if False:"),
            ('getattr(step, "clip", False)', "False"),
        ],
    ),
    "src/kernelrank/export/_terms.py": (
        EXPORTS,
        [
            ("number.factor * (centre - number.centre) + number.shift", "number.shift"),
            ("weight += w * number.factor * scale", "weight += w * scale"),
            ("missing += w * number.missing", "missing += w"),
            ("_known(each) is known or _known(each) == known for", "True for"),
            ("if not _is_zero(term)]", "]"),
        ],
    ),
    "src/kernelrank/export/_sql.py": (
        EXPORTS,
        [
            ('.replace("\'", "\'\'")', ""),
            ("""name.replace('"', '""')""", "name"),
            ("_SUMMED_AT_ONCE = 50", "_SUMMED_AT_ONCE = 5000"),
            ("term.weight / term.scale", "term.weight"),
            ("if term.present:\n        text", "if False:\n        text"),
            ("if value != term.unknown:", "if value > term.unknown:"),
            ('"NULL"\n', '"0E0"\n'),
            ('f"({text})" if value < 0 else text', "text"),
        ],
    ),
    "src/kernelrank/export/_search.py": (
        EXPORTS,
        [
            ("weight=each.weight / each.scale, scale=1.0", "scale=1.0"),
            ("term.present - term.weight * term.centre / term.scale", "term.present"),
            ("if value != unseen]", "if value > unseen]"),
            ("value - unseen) for", "value) for"),
            ("term.missing - unseen))", "term.missing))"),
            ("feature.low if feature.weight >= 0 else feature.high", "feature.low"),
            ("numbers.min(initial=0.0)", "numbers.min()"),
            ("numbers.max(initial=0.0)", "numbers.max()"),
            ("(np.abs(numbers) > _LARGEST).any()", "False"),
        ],
    ),
    "src/kernelrank/export/_kernels.py": (
        EXPORTS,
        [
            ("centre = basis.mean(axis=0)", "centre = 0 * basis.mean(axis=0)"),
            ("2.0 * gamma * others.T", "gamma * others.T"),
            ("kernel.gamma * basis.T", "basis.T"),
            ("graph.constant(kernel.coef0)", "graph.constant(1.0)"),
            ('"Add" if isinstance(kernel, Sum) else "Mul"', '"Add"'),
            ("Polynomial(3, gamma=1.0 / basis.shape[1])", "Polynomial(3)"),
        ],
    ),
    "src/kernelrank/export/_onnx.py": (
        EXPORTS,
        [
            ("while output in inputs.names:", "while False:"),
            ("order = order + places", "order = places + order"),
            ("if any(shifts := ", "if not (shifts := "),
            ("graph.constant(scorer.offset))", "graph.constant(0 * scorer.offset))"),
            ("if form.names is None and not", "if not"),
            ("return texts != {False}", "return True"),
        ],
    ),
    "src/kernelrank/export/_graph.py": (
        EXPORTS,
        [
            ('if "" in known:', "if False:"),
            ("[*range(n_known), n_known + 1]", "[*range(n_known), n_known]"),
            ("[1], [n_known])", "[1], [n_known + 1])"),
            ("if np.isinf(numbers).any():", "if False:"),
        ],
    ),
    # Relational data
    "src/kernelrank/solvers/kronecker/_complete.py": (
        RELATIONAL,
        [
            ("weights += rows + columns - rows * columns", "weights += rows + columns"),
            ("h / (1.0 - h / m), columns.squares.T", "h, columns.squares.T"),
            ("columns.outside / (1.0 - 1.0 / m)", "columns.outside"),
            ("(total - (ones * of_ones).sum(axis=1))", "total"),
            ("return 0.5 * alpha", "return alpha"),
            ("(n_rows * n_columns - n_less)", "(n_rows * n_columns)"),
            ("np.outer(inside, self.columns.constant_outside) + self", "self"),
        ],
    ),
    "src/kernelrank/solvers/kronecker/_both_out.py": (
        RELATIONAL,
        [
            ("z.scaled(side.values, 0.0)", "z"),
            ("side.values / side.axis, 0.0", "side.values, 0.0"),
            ("+ side.constant_outside * self.ones", ""),
            ("+ left.sum(axis=1, keepdims=True) * columns.ones", ""),
            ("own * self._of_both + ones", "ones"),
            ("(1.0 - of_ones)", "1.0"),
        ],
    ),
    "src/kernelrank/solvers/kronecker/_separation.py": (
        RELATIONAL,
        [("[::-1] + 1.0)", "+ 1.0)"), ("if ratio <= _ERROR", "if False"), ("1.0 / np.cosh(u)", "1.0 / (1.0 + u)")],
    ),
    "src/kernelrank/solvers/kronecker/_two_step.py": (
        RELATIONAL,
        [("- np.outer(row_weights, column_weights)", ""), ("+ side.outside", ""), ("(side.n - 1)", "side.n")],
    ),
    "src/kernelrank/solvers/kronecker/_side.py": (
        RELATIONAL,
        [("kept[X.shape[0] - 1 :] = False", "pass"), ("means @ vectors if centred", "0 * vectors[0] if centred")],
    ),
    "src/kernelrank/relational/_training.py": (
        RELATIONAL,
        [
            ("level -= float((X @ w).mean())", "pass"),
            ("found[self.equal_rows]", "found"),
            ("found[:, self.equal_columns]", "found"),
        ],
    ),
    "src/kernelrank/relational/_elements.py": (
        RELATIONAL,
        [
            ("(row + 0.0).tobytes()", "row.tobytes()"),
            ("list(given) != list(self.names)", "set(given) != set(self.names)"),
        ],
    ),
    "src/kernelrank/relational/_kronecker_rls.py": (RELATIONAL, [("solution.residual > self.tol", "False")]),
    # Rows in parts, and Dask
    "src/kernelrank/losses/_binned.py": (
        PARTS,
        [
            ("np.maximum(bins - K + 1, 0)", "np.maximum(bins - K, 0)"),
            ("through - up, through[-1] - through", "through, through[-1] - through"),
            ("g += inside.g", "pass"),
            ("above[:, K:]", "above[:, : n_bins - K]"),
        ],
    ),
    "src/kernelrank/solvers/_parted.py": (
        PARTS,
        [
            ('self._waiting.append(("curve", key, q.keys))', 'self._ask("curve", lambda: (key, self.zeros().keys))'),
            ("key=lambda stored: (stored.stage, stored.key)", "key=lambda stored: -stored.key"),
            ("weakref.finalize(stored, self._dead.append, key).atexit = False", "pass"),
            ("+ self._error_of_value())", ")"),
        ],
    ),
    "src/kernelrank/dask/_collections.py": (
        "tests/dask/test_dask_rank_svm.py",
        [("model._fitted_with_queries = False  # has been said", "pass"), ("if not compute:", "if False:")],
    ),
    "src/kernelrank/dask/_data.py": (
        DASK,
        [
            ("cuts = cuts[cuts > levels[0]]", "pass"),
            ("-rows, pairs // n_parts))", "rows, pairs // n_parts))"),
            ("np.append(0, np.cumsum([each.n_rows for each in facts]))", "np.zeros(len(facts) + 1, np.intp)"),
        ],
    ),
    "src/kernelrank/dask/_rows.py": (
        DASK,
        [
            ("torn = queries[in_chunks > 1]", "torn = queries[:0]"),
            ('np.searchsorted(cuts, chunk.y[:, 0], side="right")', 'np.searchsorted(cuts, chunk.y[:, 0], side="left")'),
        ],
    ),
    "src/kernelrank/dask/_squares.py": (
        "tests/dask/test_dask_rank_rls.py",
        [("cuts = np.unique(ends[np.searchsorted(ends, cuts)])", "pass"), ("/ unit,", ",")],
    ),
    # Row stores
    "src/kernelrank/io/_row_chunks.py": (
        STORES,
        [
            ("found = zlib.crc32(piece, found)", "found = zlib.crc32(piece)"),
            ("if X.nnz != n_stored:", "if X.nnz > n_stored:"),
        ],
    ),
    "src/kernelrank/io/_row_cutting.py": (
        STORES,
        [
            ("last = max(last, first + 1)", "last += 1"),
            ("yield last\n            last = block", "yield block"),
            ("sizes[-1] += more[0]", "sizes[-1] = more[0]"),
        ],
    ),
    "src/kernelrank/io/_row_files.py": (STORES, [("memory[(number + 1) % 2]", "memory[number % 2]")]),
    "src/kernelrank/io/_row_writer.py": (
        STORES,
        [
            ("there[number] != chunk", "there[number].n_rows != chunk.n_rows"),
            ("known and _is_there(folder, before)", "known"),
            ("if known else before is not None and before.complete", "if known else False"),
            ("if len(chunks) > n_listed:", "if False:"),
        ],
    ),
    # Pairs
    "src/kernelrank/pairs/_clicks.py": (
        "tests/pairs/test_weigh_clicks.py",
        [
            ("clicks * weights / chances", "clicks * weights"),
            ("np.bincount(queries)[queries[hit]] > 1", "np.bincount(queries) > 1"),
            ("vector < np.finfo(np.float64).tiny", "vector < 0"),
            ("codes.astype(np.int64) * (int(rows.max()) + 1)", "codes.astype(np.int64) * int(rows.max())"),
        ],
    ),
    "src/kernelrank/datasets/_clicks.py": (
        "tests/datasets/test_simulate_clicks.py",
        [
            ("np.lexsort((-scores, codes))", "np.lexsort((scores, codes))"),
            ("np.arange(n_impressions)[:, None] *", "0 *"),
            ("noise + (1 - noise) * gain", "noise + gain"),
        ],
    ),
    "src/kernelrank/model_selection/_propensities.py": (
        "tests/model_selection/test_propensities.py",
        [
            ("decrement <= _SMALL", "decrement <= 1.0"),
            ("min(1.0, _LONGEST / float(np.abs(step).max()))", "1.0"),
            ("presence.T @ clicked, directed=True", "presence.T @ presence, directed=True"),
            ("propensity * error)", "error)"),
            ("factor, half.T))", "factor, np.eye(len(half))))"),
        ],
    ),
    "src/kernelrank/pairs/_graph.py": (
        GRAPHS,
        [
            ("np.asarray(won + lost)", "np.asarray(won)"),
            ("np.tile([1.0, -1.0], k)", "np.tile([-1.0, 1.0], k)"),
            ("np.add.at(L, (winners, losers), -strengths)", "L[winners, losers] = -strengths"),
            ("kept = values > m * _EPS * values[-1]", "kept = values > 0"),
        ],
    ),
    "src/kernelrank/pairs/_preferences.py": (
        "tests/pairs/test_preferences.py tests/estimators/test_fit_pairs.py",
        [
            ("(edges < 0) | (edges >= n_rows)", "(edges < 0) | (edges > n_rows)"),
            (
                "np.bincount(numbers, given.weights, minlength=self.n_queries)",
                "np.bincount(numbers, minlength=self.n_queries)",
            ),
        ],
    ),
    "src/kernelrank/pairs/_sampling.py": (
        "tests/pairs/test_sampling.py",
        [
            ("places >= level[rows, 0]", "places > level[rows, 0]"),
            ("(largest + 1)).astype", "largest).astype"),
            ("np.where(again, largest, found)", "found"),
            ("wins = (y[first] > y[second])", "wins = (y[first] < y[second])"),
        ],
    ),
    "src/kernelrank/pairs/_sorting.py": ("tests/pairs tests/metrics", [("Ranking(-values", "Ranking(values")]),
    "src/kernelrank/pairs/_utilities.py": (
        "tests/pairs",
        [
            ("np.int64 if rows.weights is None", "np.int64 if rows.weights is not None"),
            ("if not np.isfinite(self.n_pairs):", "if False:"),
        ],
    ),
    "src/kernelrank/pairs/_laplacian.py": (
        f"tests/pairs/test_laplacian.py {LEAST_SQUARES} tests/estimators/test_sparse_forms.py",
        [
            ("self._vector[self._starts] += 1.0", "self._vector[self._starts] -= 1.0"),
            ("in_order = (1.0 - squares)", "in_order = squares"),
            ("(totals[class_queries] - inside.norms**2)", "totals[class_queries]"),
            ("strengths > len(strengths) * np.finfo(np.float64).eps * largest[queries]", "strengths > 0"),
            ("return self.lift(C) / _column", "return self.lift(C) * _column"),
            ("len(self._kept) == self.n_rows - n_queries and ", ""),
        ],
    ),
    # Losses
    "src/kernelrank/losses/_pairwise.py": (
        HINGES,
        [
            ("comparable = totals > 0", "comparable = totals >= 0"),
            ("(totals > 0).sum() if query_weighting", "len(totals) if query_weighting"),
            ("else totals.sum())", "else totals.max())"),
            ("Risk(value + error, constant - quadratic, g)", "Risk(value + error, constant + quadratic, g)"),
            ("2.0 * float(np.sqrt(max(value, 0.0))) + error", "2.0 * float(np.sqrt(max(value, 0.0)))"),
            ("if not _WIDE < width < np.inf:", "if True:"),
            ("        if self._weighted:\n", "        if False:\n"),
            ("+ 2.0 * dot(rest, product)", "+ dot(rest, product)"),
            ("dot(self._scale, inner) + rounding_of(scores), offset", "dot(self._scale, inner), offset"),
            ("return 2.0 * self._violated.degrees(self._scale)", "return self._violated.degrees(self._scale)"),
        ],
    ),
    "src/kernelrank/losses/_ordinal.py": (
        "tests/losses/test_ordinal_hinge.py tests/estimators/test_ordinal_svm.py",
        [
            ("low.share(amount) * ordered", "1.0 * ordered"),
            (
                'place = np.searchsorted(self.sums, amount, "right")',
                'place = np.searchsorted(self.sums, amount, "left")',
            ),
            ("before = self.sums[start - 1] if start else 0.0", "before = 0.0"),
            ("bool(low.keys[place] + high.keys[partner] >= 2.0)", "bool(low.keys[place] + high.keys[partner] > 2.0)"),
            ("(least + most) / 2", "least"),
            ("self._sort(scores - scores.mean())", "self._sort(scores)"),
        ],
    ),
    "src/kernelrank/losses/_squares.py": (
        f"{LEAST_SQUARES} tests/estimators/test_rls_pairs.py tests/estimators/test_rls_edge_cases.py",
        [
            ("alone = np.bincount(queries, w > 0) < 2", "alone = np.bincount(queries) < 2"),
            ("(2 * before + of_level)[level]", "(2 * before)[level]"),
            ("strengths = strengths / sizes / sizes", "strengths = strengths / sizes"),
            ("np.where(alone, 0.0, squares / 2)", "np.where(alone, 0.0, squares)"),
            ("kept = y[winners] > y[losers]", "kept = y[winners] >= y[losers]"),
        ],
    ),
    # Solvers
    "src/kernelrank/solvers/_path.py": (
        "tests/estimators/test_rank_svm_cv.py tests/estimators/test_alpha_grids.py",
        [("return 0.5 / step", "return 5.0 / step"), ("(1 - 1e-12) * flat.offset", "0.5 * flat.offset")],
    ),
    "src/kernelrank/solvers/_conjugate_gradient.py": (
        "tests/estimators/test_rls.py tests/estimators/test_rls_pairs.py tests/estimators/test_rls_edge_cases.py",
        [
            ("if norm(residual) <= tol * size:", "if norm(residual) <= tol:"),
            ("direction = z + (rz / rz_before) * direction", "direction = z"),
            ("1.0 / (self._diagonal + alpha)", "1.0 / (self._diagonal)"),
        ],
    ),
    "src/kernelrank/solvers/_kernel_products.py": (
        "tests/solvers/test_kernel_products.py tests/estimators/test_kernel_certificate.py",
        [
            ("_ROUNDING * dot(np.abs(w[: self.n_rows]), self.norms) ** 2", "0.0"),
            ("np.abs(w[: self.n_rows])", "w[: self.n_rows]"),
        ],
    ),
    "src/kernelrank/solvers/_simplex_qp.py": (
        "tests/solvers/test_simplex_qp.py tests/solvers/test_model.py tests/solvers/test_bundle.py",
        [
            ("u = np.maximum(u, 0.0)", "u = np.abs(u)"),
            ("dot(b, u) - dot(u, Hu) / 2", "dot(b, u) - dot(u, Hu)"),
            ("best._replace(shortfall=bound - best.value)", "best._replace(shortfall=0.0)"),
            ("flag >= 1 or flag == _AT_ITS_LIMIT", "True"),
        ],
    ),
    "src/kernelrank/solvers/_active_set.py": (
        "tests/solvers/test_model.py tests/solvers/test_large_features.py tests/solvers/test_bundle.py",
        [
            ("direction[base] = -direction[others].sum()", "direction[base] = 0.0"),
            ("slope[entering] - slope @ u <= accuracy", "slope[entering] - slope @ u <= 1e3 * accuracy"),
        ],
    ),
    "src/kernelrank/solvers/_result.py": (
        "tests/solvers/test_goal.py",
        [("max(objective, _SMALLEST * at_zero)", "max(objective, _LARGEST * at_zero)")],
    ),
    "src/kernelrank/solvers/_model.py": (
        BUNDLES,
        [
            ("(square + rounding) / (4 * alpha)", "square / (4 * alpha)"),
            ("slope = np.minimum(slope, 0.0)", "slope = np.maximum(slope, 0.0)"),
            ("low, at_low, at_high = t, at_t, at_high / 2", "low, at_low, at_high = t, at_t, at_high"),
            ("best.w > 0) / (2 * alpha)", "best.w > -1) / (2 * alpha)"),
        ],
    ),
    "src/kernelrank/solvers/_cuts.py": (
        BUNDLES,
        [
            ("np.where(features[changed], 1.0, -1.0)", "np.where(features[changed], 1.0, 1.0)"),
            ("weight = u[merged] / u[merged].sum()", "weight = u[merged]"),
            ("used[0] = True", "used[0] = used[0]"),
            (
                "        self.u, self._idle = self.u[rows], self._idle[rows]\n        self._part = None",
                "        self.u, self._idle = self.u[rows], self._idle[rows]",
            ),
            ("part.updates < _MOST_UPDATES", "True"),
        ],
    ),
    "src/kernelrank/solvers/_oracle.py": (
        BUNDLES,
        [
            ("slope * norms + slope * (slope / (4 * alpha))", "slope * norms"),
            ("rounding_of_rows(self.n_rows**0.5 * slope, alpha, norms)", "rounding_of_rows(slope, alpha, norms)"),
        ],
    ),
    "src/kernelrank/solvers/_bundle.py": (
        f"{BUNDLES} tests/estimators/test_rank_svm_cv.py",
        [
            ("lower = max(lower - self._hidden_rounding(alpha, model.w, goal), 0.0)", "lower = max(lower, 0.0)"),
            ("settled = self._best.w.any() or not model.w.any()", "settled = True or not model.w.any()"),
            ("if self._best.objective(alpha) > self._value_at_zero:", "if False:"),
            ("if model.value > lower:", "if True:"),
            ("w = np.maximum(start, 0.0) if positive", "w = start if positive"),
            ("longest = 1.0 if self._positive else np.inf", "longest = np.inf"),
            ("(done and max(gap, hidden) > goal) or idle == _MOST_IDLE", "idle == _MOST_IDLE"),
        ],
    ),
    "src/kernelrank/solvers/_line_search.py": (
        "tests/solvers/test_line_search.py tests/solvers/test_bundle.py tests/solvers/test_newton.py",
        [
            ("2 * t * self._wd + t * t * self._dd", "2 * t * self._wd + t * self._dd"),
            ("best = min(complete, key=_value)", "best = low"),
            ("t = min(_GROWTH * t, longest)", "t = _GROWTH * t"),
            ("return point if point.value <= origin.value else ray.at(low)", "return point"),
            ("if point.slope > 0:\n        point = ray.at(", "if False:\n        point = ray.at("),
        ],
    ),
    "src/kernelrank/solvers/_newton.py": (
        NEWTONS,
        [
            ("drift = (self._inner(self._slope, w) - self._inner(w, self._slope)) / 2", "drift = 0.0"),
            ("w * (gradient - alpha * w), gradient**2 / (4 * alpha))", "0.0, gradient**2 / (4 * alpha))"),
            ("2 * self._oracle.rounding + self._hidden", "self._hidden"),
            ("held |= (w + step == 0) & (move < 0)", "held |= False"),
            ("norm <= max(tol * self._first_norm, noise) and max(", "max("),
            (
                "coarse = min(max(np.sqrt(norm / self._first_norm), _FINEST), _COARSEST) * norm",
                "coarse = _COARSEST * norm",
            ),
            ("return curved + 2 * alpha * s", "return curved"),
            ("v -= (2 * alpha * shares[-1]) * s", "pass"),
            (
                "self._move_to(ray.move(search_smooth(ray, 1.0 if self._positive else np.inf)))",
                "self._move_to(ray.move(search_smooth(ray, np.inf)))",
            ),
        ],
    ),
    "src/kernelrank/solvers/_products.py": (
        "tests/solvers/test_products.py tests/estimators/test_sparse_forms.py tests/solvers/test_large_features.py",
        [
            ("squared=squared, **options)\n        out[columns.constant] = 0.0", "squared=squared, **options)"),
            ("(lengths == sizes[where[starts]])[values[starts] != 0].all()", "(lengths == sizes[where[starts]]).all()"),
            ("self.squares(d) - total * mean**2, 0.0", "self.squares(d), 0.0"),
        ],
    ),
    "src/kernelrank/solvers/_columns.py": (
        "tests/solvers/test_columns.py tests/solvers/test_products.py tests/solvers/test_large_features.py",
        [
            ("drifts = _are_far(size, inside)", "drifts = np.zeros_like(shift, np.bool_)"),
            ("counts == stop - start", "counts >= 1"),
            ("constant = constant[source.are_constant(full[constant], first[constant])]", "constant = constant"),
        ],
    ),
    "src/kernelrank/solvers/_blocks.py": (
        "tests/solvers/test_blocks.py",
        [
            ("total = part if total is None else total + part", "total = part"),
            ("self.columns[number]", "self.columns[0]"),
            ("full = np.intersect1d(full, Rows(block.X).full_columns(), assume_unique=True)", "Rows(block.X)"),
        ],
    ),
    "src/kernelrank/solvers/_greedy.py": (
        "tests/solvers/test_greedy_selection.py tests/estimators/test_greedy.py",
        [
            ("if pivot <= own.noise[column]:", "if False:"),
            ("errors[self.selected] = np.inf", "pass"),
            ("squares -= (self._totals @ panel.solved) ** 2 / self._sizes", "pass"),
            ("small = panel.pivots <= panel.noise", "small = panel.pivots <= 0"),
            ("errors <= smallest + rounding", "errors <= smallest"),
        ],
    ),
    # Solvers: least squares
    "src/kernelrank/solvers/least_squares/_ranking.py": (
        HOLD_OUTS,
        [
            ("return alpha * (1 - n_held_out / m)", "return alpha"),
            ("W.targets, rows) - e, SAFETY * errors)", "W.targets, rows) - e, 0 * errors)"),
        ],
    ),
    "src/kernelrank/solvers/least_squares/_residual.py": (
        f"{HOLD_OUTS} {BASES}",
        [
            ("return -1.0 / self.n_rows if self.mean and not self.complete else 0.0", "return 0.0"),
            (
                "return diagonal if self.complete else diagonal + (1.0 + self.constant)",
                "return diagonal + (1.0 + self.constant)",
            ),
            ("right + new.T @ replaced.targets", "right"),
            ("e = e - back @ c", "pass"),
            ("found = found + along.T @ along[:, 0]", "pass"),
            ("W = W + Y @ xp.matrix_transpose(Y)", "pass"),
            ("not self.complete and n_held_out > self.rank", "not self.complete"),
        ],
    ),
    "src/kernelrank/solvers/least_squares/_pairs.py": (
        HOLD_OUTS,
        [("SAFETY * to_host(found + 2.0 * xp.max(xp.stack(most), axis=0))", "0 * to_host(found)")],
    ),
    "src/kernelrank/solvers/least_squares/_basis.py": (
        f"tests/solvers/test_held_out_basis.py {BASES}",
        [
            ("outside -= U @ (U.T @ outside)", "pass"),
            ("lengths > 0.0, lengths, 1.0", "lengths > 0.0, 1.0, 1.0"),
            ("directions.outside / alpha**0.5", "directions.outside"),
            ("xp.sqrt(values / (values + alpha))[:, None] * inside", "inside"),
            ("while self._n_kept > self._most and self._kept:", "while False:"),
            ("xp.where(like(special | same, parallel), 0.0, parallel)", "0.0 * parallel"),
            ("** 2 < _PARALLEL) & ~same", "** 2 < 0) & ~same"),
            ("equations.products[(k, *where)] = products[k]", "pass"),
        ],
    ),
    "src/kernelrank/solvers/least_squares/_queries.py": (
        f"{HOLD_OUTS} {BASES}",
        [
            ("Z -= N @ (N.T @ Z)", "Z -= 0.0"),
            ("w - lost.outside @ taken / alpha**0.5 if", "w if"),
            ("many or largest(", "largest("),
        ],
    ),
    "src/kernelrank/solvers/least_squares/_spectrum.py": (
        f"{HOLD_OUTS} {BASES}",
        [
            ("1.0 / (self.values + alpha), self.vectors.T @ u", "1.0 / self.values, self.vectors.T @ u"),
            ("values[values <= noise] = 0.0", "pass"),
            ("if alpha > MANY * noise:", "if True:"),
        ],
    ),
    # Metrics
    "src/kernelrank/metrics/_queries.py": (
        "tests/metrics",
        [("values[~missing]", "np.nan_to_num(values)"), ("if missing.any():", "if False:")],
    ),
    "src/kernelrank/metrics/_pairs.py": (
        "tests/metrics/test_pairs.py",
        [
            ("winners == losers, ties", "winners == losers, 0.5"),
            ("np.minimum(ratio(found, totals), 1.0)", "ratio(found, totals)"),
        ],
    ),
    "src/kernelrank/metrics/_relevance.py": (
        "tests/metrics/test_positions.py tests/metrics/test_undefined_queries.py",
        [
            ("growth = (here - 1) /", "growth = here /"),
            ("np.clip(k - blocks.above, 0, blocks.sizes)", "np.minimum(k - blocks.above, blocks.sizes)"),
            ("relevant = truth > threshold", "relevant = truth >= threshold"),
        ],
    ),
    "src/kernelrank/metrics/_blocks.py": (
        "tests/metrics/test_positions.py tests/metrics/test_undefined_queries.py",
        [
            ("truth if ties == 1 else -truth", "truth"),
            ("begins[query_starts] = True", "pass"),
            ("running - np.repeat(running[self.first_blocks], blocks_per_query)", "running"),
            ("reach *= 2", "reach += 1"),
        ],
    ),
    "src/kernelrank/metrics/_gain.py": (
        "tests/metrics/test_positions.py tests/metrics/test_undefined_queries.py",
        [
            ("largest[0] if codes is None else largest[codes]", "largest.max()"),
            ("np.isnan(values) | (found.query_sizes < (depth or 0))", "np.isnan(values)"),
            ("np.maximum(ranks, 2)", "ranks + 1"),
            ("gains[small] = np.expm1(np.log(2.0) * grades[small])", "pass"),
            ("values = np.minimum(values, 1.0)", "pass"),
        ],
    ),
    "src/kernelrank/metrics/_cascade.py": (
        "tests/metrics/test_positions.py tests/metrics/test_undefined_queries.py",
        [
            ("lengths = blocks.sizes[first] - here[first] + 1", "lengths = blocks.sizes[first] - here[first]"),
            ("depths = np.minimum(depths, k - above[chosen])", "pass"),
        ],
    ),
    "src/kernelrank/metrics/_influence.py": (
        "tests/metrics/test_influence.py tests/metrics/test_auc.py tests/metrics/test_comparison.py",
        [
            ("/ (both / 2)", "/ both"),
            ("(_unbiased(sizes) - _unbiased(n)) @ squares", "0.0"),
            ("max(estimate - half_width, lowest)", "max(estimate - half_width, 0.0)"),
        ],
    ),
    "src/kernelrank/metrics/_censoring.py": (
        "tests/metrics/test_censored_metrics.py",
        [
            ("at_risk, happened = at_risk - happened, lost", "happened = lost"),
            ("rows.y < truncation", "rows.y <= truncation"),
            ("truncation > seen.max()", "truncation > rows.y.max()"),
        ],
    ),
    "src/kernelrank/metrics/_intervals.py": (
        "tests/metrics/test_auc.py",
        [("values = values[~np.isnan(values)]", "values = np.nan_to_num(values)")],
    ),
    "src/kernelrank/metrics/_time_dependent.py": (
        "tests/metrics/test_censored_metrics.py",
        [
            ("np.cumsum(controls) - controls / 2", "np.cumsum(controls)"),
            ("y <= time, case", "y < time, case"),
            ('side="right"', 'side="left"'),
        ],
    ),
    "src/kernelrank/metrics/_concordance.py": (
        "tests/metrics/test_concordance.py",
        [
            ("np.maximum(tied, 0)", "tied"),
            ("pairs.pairs_per_query.astype(float) * UtilityPairs", "pairs.pairs_per_query * UtilityPairs"),
            ("ratio(discordant + ties * tied, ", "ratio(discordant + (1 - ties) * tied, "),
        ],
    ),
    "src/kernelrank/metrics/_decisions.py": (
        "tests/metrics/test_decisions.py",
        [
            ("np.where(middle < over, middle, under)", "middle"),
            ("middle = over / 2 + under / 2", "middle = (over + under) / 2"),
            ("return rows[weights > 0], weights[weights > 0]", "return rows, weights"),
            ("called = scores > threshold", "called = scores >= threshold"),
        ],
    ),
    "src/kernelrank/metrics/_comparison.py": (
        "tests/metrics/test_comparison.py",
        [
            ("np.maximum.accumulate(multiplied)", "multiplied"),
            ("shift = 2 * (len(differences) - len(signed))", "shift = 0"),
            ("min(1.0, 2.0 ** (1 - self._n_disjoint()))", "0.0"),
            ("np.round(differences, 12)", "differences"),
            ("values.var(ddof=1)", "values.var()"),
        ],
    ),
    # Clustering
    "src/kernelrank/solvers/_max_margin.py": (
        "tests/solvers/test_max_margin.py tests/estimators/test_max_margin_clustering.py",
        [
            ("np.where(ones, n_ones, len(y) - n_ones) > self._smallest", "n_ones > self._smallest"),
            ("changes[ones] + np.min(changes[others]) - most", "changes[ones] + np.min(changes[others])"),
            ("found += self._W.constant", "found += 0.0"),
            ("np.argsort(-spectrum.values", "np.argsort(spectrum.values"),
            ("return int(i), int(others[j])", "return ()"),
            ("if found.objective < best.objective", "if found.objective > best.objective"),
        ],
    ),
    "src/kernelrank/estimators/_max_margin_clustering.py": (
        "tests/estimators/test_max_margin_clustering.py",
        [
            ("signs = -best.y[0] * best.y", "signs = best.y"),
            ("ceil(self.min_share * m * (1 - _ROUNDING))", "int(self.min_share * m * (1 - _ROUNDING))"),
        ],
    ),
    # How certain estimates are
    "src/kernelrank/model_selection/_intervals.py": (
        "tests/model_selection/test_intervals.py tests/model_selection/test_estimates.py",
        [
            ("direct * max(direct, jackknife)", "direct * jackknife"),
            ("(1 - 1 / sizes)[codes]", "np.ones(len(codes))"),
        ],
    ),
    # The compiled core
    "cpp/src/preferences.cpp": (
        "tests/pairs/test_preferences.py tests/losses",
        [
            ("scores[winner] >= scores[loser] + 1.0", "scores[winner] > scores[loser] + 1.0"),
            ("out[winner] += scale[query] * weight;", ""),
            ("if (store == Store::replace) std::fill_n", "std::fill_n"),
        ],
    ),
    "cpp/src/counting.cpp": (
        CORE,
        [
            ("if (!ranking_.grouped()) {", "if (false) {"),
            ("query.distinct() ? nullptr : levels", "nullptr"),
            ("inner += difference * (q.score(i) - centre)", "inner += difference * q.score(i)"),
        ],
    ),
    "cpp/src/sweeps.cpp": (
        CORE,
        [
            (
                "in_window(steps.begin, middle) ? edge_ = middle + 1",
                "in_window(steps.begin, middle) ? edge_ = middle + 2",
            ),
            ("- 1 - level : level", "- 1 - level : level / 2"),
            ("kSide == Side::above || !q.censored(i)", "true"),
            ("kSide == Side::above && q.censored(i) ? Count{0} : sum", "sum"),
        ],
    ),
    "cpp/src/ranking.cpp": (
        "tests/pairs/test_censored_pairs.py",
        [
            ("if (observed) lower += size;", "lower += size;"),
            ("|| records[place - 1].key != censored", ""),
            ("if (observed) lower_weight += weight;", "lower_weight += weight;"),
        ],
    ),
    "src/kernelrank/_fields.py": (
        "tests/estimators/test_censored_fits.py tests/pairs/test_censored_pairs.py",
        [("if _two_fields(y) is not None", "if False"), ('.count("b") == 1', '.count("b") >= 1')],
    ),
    "src/kernelrank/model_selection/_sample.py": (
        "tests/model_selection/test_censored_estimates.py",
        [
            ("else self.observed[rows]\n        return replace", "else self.observed\n        return replace"),
            ("if classes and seen is not None", "if False"),
        ],
    ),
    "src/kernelrank/losses/_censored.py": (
        "tests/estimators/test_censored_fits.py",
        [
            ("product += self._ties.multiply(v, overwrite=overwrite)", "pass"),
            ("weights = weights * rows.observed", "pass"),
            ("return -lower_less_upper", "return lower_less_upper"),
        ],
    ),
}
