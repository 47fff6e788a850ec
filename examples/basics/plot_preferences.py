"""
Comparisons, and those that contradict each other
=================================================
Often nobody knows the utility of things, but people can say which of two they prefer. ``fit_pairs`` of
:class:`~kernelrank.RankSVM` learns from such pairs ``[winner, loser]``. No order agrees with all of them if people
prefer soup to curry, curry to pizza and pizza to soup. :func:`~kernelrank.inspection.audit_pairs` finds the smallest
set of votes without which no such cycle is left: the dashed arrows. See also :doc:`/docs/inspection`.
"""

# %%
# Each two of eight dishes are compared by one person. The votes are simulated: tastes differ, so that the better dish
# does not always win.
from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np

from kernelrank import RankSVM
from kernelrank.inspection import audit_pairs

dishes = np.array(["soup", "salad", "pasta", "curry", "pizza", "stew", "tacos", "sushi"])
rng = np.random.default_rng(0)
utility = rng.permutation(8)
votes = np.array(list(combinations(range(8), 2)))
wins = utility[votes[:, 0]] + 3 * rng.normal(size=28) > utility[votes[:, 1]]
votes[~wins] = votes[~wins, ::-1]

# %%
# The audit proves that no fewer votes can be dropped to end all cycles. Any scorer puts at least as many in the wrong
# order.
audit = audit_pairs(votes)
print(f"{len(audit.responsible)} of {audit.n_pairs} votes contradict others; proven to be the fewest: {audit.proven}")
for winner, loser in dishes[votes[audit.responsible]]:
    print(f"  {winner} is better than {loser}")

# %%
# A score for each dish: the features only say which dish it is. The model is trained on the other votes.
features = np.eye(8)
model = RankSVM(alpha=1e-4).fit_pairs(features, np.delete(votes, audit.responsible, axis=0))
score = model.predict(features)

# %%
# Each arrow is a vote, from the winner to the loser. Dishes are in the order of their scores, the best on the left: all
# arrows but the dashed ones agree with it.
figure, ax = plt.subplots(figsize=(7, 3.8), layout="constrained")
for number, (winner, loser) in enumerate(votes):
    style = {"color": "#D55E00", "ls": "--", "lw": 2} if number in audit.responsible else {"color": "#0072B2"}
    arrow = {"arrowstyle": "-|>", "connectionstyle": "arc3,rad=-0.55", "shrinkA": 10, "shrinkB": 10, **style}
    ax.annotate("", (-score[loser], 0), (-score[winner], 0), arrowprops=arrow)
for dish, place in zip(dishes, -score, strict=True):
    ax.text(place, 0, dish, ha="center", va="center", bbox={"facecolor": "white", "boxstyle": "round"})
ax.text(0, 1.4, "26 votes that agree with one order", color="#0072B2", ha="center")
ax.text(0, -1, "2 votes that contradict them", color="#D55E00", ha="center")
ax.set(xlim=(-4, 4), ylim=(-1.1, 1.5))
ax.axis("off")
plt.show()
