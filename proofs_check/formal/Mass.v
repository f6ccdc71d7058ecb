(* Attention mass and margins, without the exponential.                                                             *)
(*                                                                                                                  *)
(* zs and z j, j in a finite type K of other keys, stand for the exponentials of a row's logits: any positive       *)
(* numbers.  The sink's mass is mass zs z = zs / (zs + sum_j z j), and z j / zs = e^-m_j for the margin m_j of the  *)
(* sink over key j, so "m_j >= m" reads z j / zs <= t with t = e^-m.                                                *)
From mathcomp Require Import all_ssreflect all_algebra ring.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

Definition mass (R : realFieldType) (K : finType) (zs : R) (z : K -> R) : R := zs / (zs + \sum_j z j).

Lemma total_gt0 (R : realFieldType) (K : finType) (zs : R) (z : K -> R) :
  0 < zs -> (forall j, 0 < z j) -> 0 < zs + \sum_j z j.
Proof. by move=> zs0 z0; rewrite ltr_spaddl // sumr_ge0 // => j _; rewrite ltW. Qed.

(* G5.  n = #|K| other keys, each margin at least m (t = e^-m): the sink's mass is at least 1/(1 + n e^-m), with    *)
(* equality iff all margins equal m.                                                                                *)
Theorem G5 (R : realFieldType) (K : finType) (zs : R) (z : K -> R) (t : R) :
  0 < zs -> (forall j, 0 < z j) -> (forall j, z j / zs <= t) ->
  1 / (1 + #|K|%:R * t) <= mass zs z /\
  (mass zs z = 1 / (1 + #|K|%:R * t) <-> forall j, z j / zs = t).
Proof.
move=> zs0 z0 zt.
have e : mass zs z = 1 / (1 + \sum_j z j / zs).
  have -> : \sum_j z j / zs = (\sum_j z j) / zs by rewrite mulr_suml.
  by rewrite /mass; field; rewrite !gt_eqF // ?total_gt0 // addrC total_gt0.
have n : #|K|%:R * t = \sum_(j : K) t by rewrite sumr_const mulr_natl.
have p : 0 < 1 + \sum_j z j / zs by rewrite ltr_spaddl ?ltr01 // sumr_ge0 // => j _; rewrite divr_ge0 ?ltW.
have le : \sum_j z j / zs <= \sum_(j : K) t by apply: ler_sum.
have q : 0 < 1 + \sum_(j : K) t by apply: lt_le_trans p _; rewrite ler_add2l.
rewrite e n !div1r lef_pinv ?posrE // ler_add2l; split=> //; split=> [/invr_inj /addrI h j|h].
  apply/eqP; rewrite eq_sym -subr_eq0.
  have : \sum_j (t - z j / zs) == 0 by rewrite sumrB h subrr.
  rewrite psumr_eq0 => [/allP /(_ j (mem_index_enum j)) //|k _]; by rewrite subr_ge0.
by rewrite (eq_bigr (fun=> t)).
Qed.

(* G5, mass form.  The sink has mass at least 1 - eps iff the e^-m_j sum to at most eps/(1 - eps) = e^-L. *)
Theorem G5_mass_iff (R : realFieldType) (K : finType) (zs : R) (z : K -> R) (eps : R) :
  0 < zs -> (forall j, 0 < z j) -> eps < 1 ->
  (1 - eps <= mass zs z <-> \sum_j z j / zs <= eps / (1 - eps)).
Proof.
move=> zs0 z0 e1; have -> : \sum_j z j / zs = (\sum_j z j) / zs by rewrite mulr_suml.
rewrite /mass ler_pdivl_mulr ?total_gt0 // ler_pdivr_mulr // mulrAC ler_pdivl_mulr ?subr_gt0 //.
rewrite -subr_ge0 -[X in _ <-> is_true X]subr_ge0.
suff -> : zs - (1 - eps) * (zs + \sum_j z j) = eps * zs - (\sum_j z j) * (1 - eps) by [].
by ring.
Qed.

(* G5, consequence: mass at least 1 - eps gives each single margin at least L = log((1 - eps)/eps): e^-m_j is at    *)
(* most eps/(1 - eps).                                                                                              *)
Theorem G5_mass (R : realFieldType) (K : finType) (zs : R) (z : K -> R) (eps : R) (j : K) :
  0 < zs -> (forall k, 0 < z k) -> eps < 1 -> 1 - eps <= mass zs z -> z j / zs <= eps / (1 - eps).
Proof.
move=> zs0 z0 e1 /(G5_mass_iff zs0 z0 e1); apply: le_trans.
by rewrite (bigD1 j) //= ler_addl sumr_ge0 // => k _; rewrite divr_ge0 ?ltW.
Qed.

(* G5, no more than that: with two other keys, mass 1 - eps does not give margins of L + log 2. *)
Theorem G5_not_more (R : realFieldType) (eps : R) : 0 < eps -> eps < 1 ->
  exists z : bool -> R, [/\ forall j, 0 < z j, 1 - eps <= mass 1 z & eps / (1 - eps) / 2%:R < z true / 1].
Proof.
move=> e0 e1; pose L := eps / (1 - eps); have L0 : 0 < L by rewrite divr_gt0 ?subr_gt0.
pose z b : R := L / (if b then 3%:R / 2%:R else 3%:R).
have z0 b : 0 < z b by case: b; rewrite /z (divr_gt0 L0) ?divr_gt0 ?ltr0n.
exists z; split=> //.
  apply/(G5_mass_iff ltr01 z0 e1); rewrite big_bool !divr1 /z le_eqVlt -/L; apply/orP; left; apply/eqP; rewrite /=.
  by field.
rewrite divr1 /z -/L ltr_pmul2l // ltf_pinv ?posrE ?divr_gt0 ?ltr0Sn // ltr_pdivr_mulr ?ltr0Sn //.
by rewrite -natrM ltr_nat.
Qed.

(* The two keys, with their mass: e^-m = 2l/3 and l/3 for l = e^-L. *)
Theorem G5_two_keys (R : realFieldType) (eps : R) : 0 < eps -> eps < 1 ->
  let l := eps / (1 - eps) in
  let z (b : bool) := if b then 2%:R * l / 3%:R else l / 3%:R in
  [/\ forall j, 0 < z j, mass 1 z = 1 - eps & l / 2%:R < z true / 1].
Proof.
move=> e0 e1 l z; have l0 : 0 < l by rewrite divr_gt0 ?subr_gt0.
have ne : 1 - eps != 0 by rewrite gt_eqF // subr_gt0.
have three : 0 < 3%:R :> R by rewrite ltr0n.
split.
- by case; rewrite /z; apply: divr_gt0 => //; apply: mulr_gt0 => //; rewrite ltr0n.
- rewrite /mass big_bool /z /= (_ : 1 + _ = (1 - eps)^-1) ?div1r ?invrK // /l; by field.
rewrite divr1 /z; move: l0 => {z}; move: l => l l0.
rewrite ltr_pdivr_mulr ?ltr0n // mulrAC ltr_pdivl_mulr // -mulrA mulrC -mulrA ltr_pmul2l // -natrM.
by rewrite ltr_nat.
Qed.

Lemma G5_satisfiable (R : realFieldType) :
  exists (z : bool -> R) (t : R), (forall j, 0 < z j) /\ forall j, z j / 1 <= t.
Proof. by exists (fun=> 1), 1; split=> j; rewrite ?divr1 ?ltr01. Qed.

(* The hypotheses of G5_mass, with them those of G5_mass_iff, and those of E8_mean_margin can be met: zs = 2, two    *)
(* other keys 1, mass 1/2 = 1 - eps.                                                                                 *)
Lemma G5_mass_satisfiable (R : realFieldType) :
  exists (zs : R) (z : bool -> R) (eps : R), [/\ 0 < zs, forall j, 0 < z j, eps < 1 & 1 - eps <= mass zs z].
Proof.
exists 2%:R, (fun=> 1), 2%:R^-1; split=> [|j||]; rewrite ?ltr0n ?ltr01 //.
  by rewrite invf_lt1 ?ltr0n // (ltr_nat _ 1 2).
by rewrite /mass big_bool (_ : 1 - _ = 2%:R / (2%:R + (1 + 1))) ?lexx //; field.
Qed.

Lemma E8_mean_margin_satisfiable (R : realFieldType) :
  (0 < #|[finType of bool]|)%N /\
  exists (zs : R) (z : bool -> R) (delta : R), [/\ 0 < zs, forall j, 0 < z j, delta < 1 & 1 - delta <= mass zs z].
Proof. by split; [rewrite card_bool | apply: G5_mass_satisfiable]. Qed.

(* E8, the Jensen step.  n >= 1 other keys and sink mass at least 1 - delta, delta < 1: the product of the e^-m_j   *)
(* is at most (delta/(n (1 - delta)))^n, that is, the mean margin is at least log(n (1 - delta)/delta).  (For a     *)
(* single margin only log((1 - delta)/delta) follows: G5_mass.)                                                     *)
Theorem E8_mean_margin (R : realFieldType) (K : finType) (zs : R) (z : K -> R) (delta : R) :
  (0 < #|K|)%N -> 0 < zs -> (forall j, 0 < z j) -> delta < 1 -> 1 - delta <= mass zs z ->
  \prod_j (z j / zs) <= (delta / (#|K|%:R * (1 - delta))) ^+ #|K|.
Proof.
move=> n0 zs0 z0 d1 /(G5_mass_iff zs0 z0 d1) h.
have n1 : 0 < #|K|%:R :> R by rewrite ltr0n.
have t0 j : 0 <= z j / zs by rewrite divr_ge0 ?ltW.
have /leif_AGM[agm _] : {in K, forall j, 0 <= z j / zs} by move=> j _.
have e : \sum_(j in K) z j / zs = \sum_j z j / zs by apply: eq_bigl.
have e' : \prod_(j in K) (z j / zs) = \prod_j (z j / zs) by apply: eq_bigl.
rewrite e e' in agm; apply: le_trans agm _.
have f : delta / (#|K|%:R * (1 - delta)) = delta / (1 - delta) / #|K|%:R by rewrite invfM mulrA mulrAC.
have le : (\sum_j z j / zs) / #|K|%:R <= delta / (#|K|%:R * (1 - delta)).
  by rewrite f ler_pmul2r ?invr_gt0.
have s0 : 0 <= (\sum_j z j / zs) / #|K|%:R by rewrite divr_ge0 ?sumr_ge0 ?ler0n.
by rewrite ler_expn2r ?nnegrE // (le_trans s0).
Qed.
