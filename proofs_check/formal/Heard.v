(* E6 with finite logits, and M1(b), (c): when row i hears another token. *)
From mathcomp Require Import all_ssreflect all_algebra ring.
From sinkproof Require Import Hulls Switch Contexts.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* E6, finite logits.  As E6, with every visible weight positive and a content key visible in some context: the     *)
(* outputs are not all 0.                                                                                           *)
Theorem E6_finite (F : realFieldType) (n d : nat) (VV : 'M[F]_(n.+1, d)) (t : 'M[F]_(n, d)) (B : 'M[F]_(n, n.+1))
    (C : finType) (S : C -> {set 'I_n.+1}) (a : C -> 'rV[F]_n.+1) :
  row_free t -> t = B *m VV ->
  (forall r j, j \notin S r -> a r 0 j = 0) -> (forall r j, j \in S r -> 0 < a r 0 j) ->
  (forall r, \sum_j a r 0 j = 1) ->
  (forall j, j != ord0 -> exists r, j \notin S r) ->
  (exists r j, j != ord0 /\ j \in S r) -> ~ forall r, a r *m VV = 0.
Proof.
move=> tfree tB supp pos a1 miss [r [j [j0 jS]]] off.
have C0 : (0 < #|C|)%N by apply/card_gt0P; exists r.
have [on _ _] := E6 tfree tB C0 supp a1 off miss.
by have := pos r j jS; rewrite on (negbTE j0) ltxx.
Qed.

Section Heard.
Variables (F : realFieldType) (d : nat).
Implicit Types (z b D : 'rV[F]_d).

(* Two vectors with the same normalised output: positive multiples of each other. *)
Definition same_direction z z' := exists2 l : F, 0 < l & z' = l *: z.

(* A step along b changes the direction of z: 1 if b is orthogonal to z, else the step that reflects z. *)
Lemma turned z b : z != 0 -> b != 0 ->
  exists c : F, z + c *: b != 0 /\ ~ same_direction z (z + c *: b).
Proof.
move=> z0 b0; have bb : 0 < dot b b by rewrite dot_gt0.
have [o|no] := eqVneq (dot b z) 0.
  exists 1; split.
    apply/eqP => e; have : dot b (z + 1 *: b) = 0 by rewrite e dot0r.
    by rewrite scale1r dotDr o add0r => /eqP; rewrite gt_eqF.
  case=> l _; rewrite scale1r => e.
  have : dot b (z + b) = dot b (l *: z) by rewrite e.
  by rewrite dotDr dotZr o mulr0 add0r => /eqP; rewrite gt_eqF.
exists (- (2%:R * dot b z / dot b b)).
set c := - _.
have len : dot (z + c *: b) (z + c *: b) = dot z z.
  rewrite dotDl !dotDr !dotZl !dotZr (dotC z b) /c; field; by rewrite gt_eqF.
have zz : dot z z != 0 by rewrite gt_eqF // dot_gt0.
split; first by rewrite -dot_eq0 len.
case=> l l0 e.
have : l * l = 1.
  by move: len; rewrite e dotZl dotZr mulrA -{2}[dot z z]mul1r => /(mulIf zz).
move/eqP; rewrite -expr2 sqrf_eq1 => /orP[] /eqP l1; last first.
  by move: l0; rewrite l1 oppr_gt0 ltr10.
move: e; rewrite l1 scale1r => /eqP; rewrite -subr_eq0 addrAC subrr add0r scaler_eq0 (negbTE b0) orbF.
by rewrite oppr_eq0 !mulf_eq0 invr_eq0 (gt_eqF bb) orbF (negbTE no) orbF pnatr_eq0.
Qed.

Variables (T : finType) (V C : 'M[F]_d).

(* What row i hands to the norm: C (x_i + o_i), with weights a. *)
Definition step (a : T -> F) (x : T -> 'rV[F]_d) (i : T) := (x i + \sum_k a k *: (x k *m V)) *m C.

Lemma step_moved a x i j D c : j != i ->
  step a (fun k => if k == j then x k + c *: D else x k) i = step a x i + c *: (a j *: (D *m (V *m C))).
Proof.
move=> ji; rewrite /step eq_sym (negbTE ji).
have -> : \sum_k a k *: ((if k == j then x k + c *: D else x k) *m V) =
    \sum_k a k *: (x k *m V) + c *: (a j *: (D *m V)).
  rewrite (bigD1 j) //= eqxx [X in _ = X + _](bigD1 j) //= mulmxDl scalerDr -scalemxAl scalerA mulrC -scalerA -!addrA.
  congr (_ + _); rewrite addrC; congr (_ + _).
  by apply: eq_bigr => k /negbTE ->.
by rewrite addrA mulmxDl -!scalemxAl mulmxA.
Qed.

(* M1(b).  Fixed weights, a_j <> 0 for some j <> i, CV <> 0, output defined: some change of x_j changes y_i, which *)
(* is defined before and after.                                                                                     *)
Theorem M1b (a : T -> F) (x : T -> 'rV[F]_d) (i j : T) :
  j != i -> a j != 0 -> V *m C != 0 -> step a x i != 0 ->
  exists x', [/\ forall k, k != j -> x' k = x k, step a x' i != 0 &
    ~ same_direction (step a x i) (step a x' i)].
Proof.
move=> ji aj M0 z0.
have [r r0] : exists r, row r (V *m C) != 0.
  by apply/existsP; move: M0; apply: contra_neqT => /existsPn n; apply/row_matrixP => r; rewrite row0; apply/eqP/negPn/n.
pose D : 'rV[F]_d := delta_mx 0 r.
have b0 : a j *: (D *m (V *m C)) != 0 by rewrite scaler_eq0 negb_or aj /D -rowE.
have [c [h0 h]] := turned z0 b0.
exists (fun k => if k == j then x k + c *: D else x k); split=> [k /negbTE -> //||]; by rewrite step_moved.
Qed.

(* M1(c).  Positive weights (finite softmax of the logits x_i W x_k), another content key j, neither i nor s,       *)
(* visible, rank CV >= 2: some change of x_j leaves x_i, x_s and every logit of row i, hence its weights, as they   *)
(* are, and changes y_i, which is defined before and after: y_i is no function of (x_i, x_s).                       *)
Theorem M1c (W : 'M[F]_d) (a : T -> F) (x : T -> 'rV[F]_d) (i j s : T) :
  j != i -> j != s -> 0 < a j -> (1 < \rank (V *m C))%N -> step a x i != 0 ->
  exists x', [/\ x' i = x i /\ x' s = x s, forall k, k != j -> x' k = x k,
    forall k, form W (x' i) (x' k) = form W (x i) (x k), step a x' i != 0 &
    ~ same_direction (step a x i) (step a x' i)].
Proof.
move=> ji js aj rk z0; pose g := (x i *m W)^T; pose K := kermx g.
have : K *m (V *m C) != 0.
  rewrite -mxrank_eq0 -lt0n; apply: leq_trans (mxrank_mul_min _ _).
  rewrite mxrank_ker; have : (\rank g <= 1)%N by rewrite rank_leq_col.
  case: (\rank g) => [|[|//]] _; rewrite ?subn0 ?subn1.
    by rewrite addnC addnK; apply: ltn_trans rk.
  have d0 : (0 < d)%N by apply: leq_trans (rank_leq_row (V *m C)); apply: ltn_trans rk.
  by rewrite -[X in (_ - X)%N](prednK d0) subn_gt0 -addn1 ltn_add2l.
move=> M0; have [r r0] : exists r, row r (K *m (V *m C)) != 0.
  by apply/existsP; move: M0; apply: contra_neqT => /existsPn n; apply/row_matrixP => r; rewrite row0; apply/eqP/negPn/n.
pose D := row r K; have b0 : a j *: (D *m (V *m C)) != 0 by rewrite scaler_eq0 negb_or (gt_eqF aj) /D -row_mul.
have gD : dot (x i *m W) D = 0.
  have /rowP /(_ 0) : D *m g = 0 by rewrite /D -row_mul mulmx_ker row0.
  by rewrite !mxE => <-; apply: eq_bigr => k _; rewrite !mxE mulrC.
have [c [h0 h]] := turned z0 b0.
exists (fun k => if k == j then x k + c *: D else x k); split=> [|k /negbTE -> //|k||]; rewrite ?step_moved //.
  by rewrite ![_ == j]eq_sym (negbTE ji) (negbTE js).
rewrite eq_sym (negbTE ji) /form; case: eqP => // _.
by rewrite dotDr dotZr gD mulr0 addr0.
Qed.
End Heard.

(* The hypotheses of E6_finite can be met: values 0 and 1, contexts {s} and {s, 1}, weights 1 and 1/2, 1/2. *)
Lemma E6_finite_satisfiable (F : realFieldType) :
  exists (VV : 'M[F]_(2, 1)) (t : 'M[F]_1) (B : 'M[F]_(1, 2)) (S : bool -> {set 'I_2}) (a : bool -> 'rV[F]_2),
    [/\ row_free t /\ t = B *m VV, forall r j, j \notin S r -> a r 0 j = 0, forall r j, j \in S r -> 0 < a r 0 j,
        forall r, \sum_j a r 0 j = 1
      & (forall j, j != ord0 -> exists r, j \notin S r) /\ exists r j, j != ord0 /\ j \in S r].
Proof.
exists (delta_mx 1 0), 1%:M, (delta_mx 0 1), (fun r : bool => if r then [set ord0] else setT),
  (fun r : bool => \row_j if r then (j == ord0)%:R else 2%:R^-1).
split; [split|case=> j|case=> j|case|split].
- by rewrite row_free_unit unitmx1.
- by rewrite mul_delta_mx; apply/matrixP => i j; rewrite !ord1 !mxE.
- by rewrite inE mxE => /negbTE ->.
- by rewrite inE.
- by rewrite inE mxE => ->; rewrite ltr01.
- by rewrite mxE invr_gt0 ltr0Sn.
- by rewrite !big_ord_recl big_ord0 !mxE /= !addr0.
- by rewrite !big_ord_recl big_ord0 !mxE /= addr0; field.
- by move=> j j0; exists true; rewrite inE.
- by exists false, (lift ord0 ord0); rewrite inE.
Qed.

(* All keys 1 with positive weights: the step is not 0. *)
Lemma step_ones (F : realFieldType) (d : nat) (T : finType) (a : T -> F) (i : T) :
  (forall k, 0 <= a k) -> step 1%:M 1%:M a (fun=> const_mx 1) i != 0 :> 'rV[F]_d.+1.
Proof.
move=> a0; rewrite /step mulmx1; apply/eqP => /rowP /(_ 0); rewrite !mxE summxE => /eqP; rewrite gt_eqF //.
by rewrite ltr_spaddl ?ltr01 // sumr_ge0 // => k _; rewrite mulmx1 !mxE mulr1.
Qed.

(* The hypotheses of M1b can be met: two keys 1 in dimension one, weights 1/2, V = C = 1. *)
Lemma M1b_satisfiable (F : realFieldType) :
  exists (V C : 'M[F]_1) (a : bool -> F) (x : bool -> 'rV[F]_1) (i j : bool),
    [/\ j != i, a j != 0, V *m C != 0 & step V C a x i != 0].
Proof.
exists 1%:M, 1%:M, (fun=> 2%:R^-1), (fun=> const_mx 1), true, false; split=> //.
- by rewrite invr_eq0 pnatr_eq0.
- by rewrite mulmx1 -mxrank_eq0 mxrank1.
- by apply: step_ones => k; rewrite invr_ge0 ler0n.
Qed.

(* The hypotheses of M1c can be met: i, j and s three tokens with embedding (1, 1) and weights 1/3, V = C = 1. *)
Lemma M1c_satisfiable (F : realFieldType) :
  exists (V C : 'M[F]_2) (a : option bool -> F) (x : option bool -> 'rV[F]_2) (i j s : option bool),
    [/\ j != i, j != s, 0 < a j, (1 < \rank (V *m C))%N & step V C a x i != 0].
Proof.
exists 1%:M, 1%:M, (fun=> 3%:R^-1), (fun=> const_mx 1), (Some true), (Some false), None; split=> //.
- by rewrite invr_gt0 ltr0Sn.
- by rewrite mulmx1 mxrank1.
- by apply: step_ones => k; rewrite invr_ge0 ler0n.
Qed.
