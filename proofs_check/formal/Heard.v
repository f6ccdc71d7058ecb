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
Lemma turned z b : z != 0 -> b != 0 -> exists c : F, ~ same_direction z (z + c *: b).
Proof.
move=> z0 b0; have bb : 0 < dot b b by rewrite dot_gt0.
have [o|no] := eqVneq (dot b z) 0.
  exists 1 => -[l _]; rewrite scale1r => e.
  have : dot b (z + b) = dot b (l *: z) by rewrite e.
  by rewrite dotDr dotZr o mulr0 add0r => /eqP; rewrite gt_eqF.
exists (- (2%:R * dot b z / dot b b)) => -[l l0].
set c := - _ => e.
have len : dot (z + c *: b) (z + c *: b) = dot z z.
  rewrite dotDl !dotDr !dotZl !dotZr (dotC z b) /c; field; by rewrite gt_eqF.
have zz : dot z z != 0 by rewrite gt_eqF // dot_gt0.
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

(* M1(b).  Fixed weights, a_j <> 0 for some j <> i, CV <> 0, output defined: some change of x_j changes y_i. *)
Theorem M1b (a : T -> F) (x : T -> 'rV[F]_d) (i j : T) :
  j != i -> a j != 0 -> V *m C != 0 -> step a x i != 0 ->
  exists x', (forall k, k != j -> x' k = x k) /\ ~ same_direction (step a x i) (step a x' i).
Proof.
move=> ji aj M0 z0.
have [r r0] : exists r, row r (V *m C) != 0.
  by apply/existsP; move: M0; apply: contra_neqT => /existsPn n; apply/row_matrixP => r; rewrite row0; apply/eqP/negPn/n.
pose D : 'rV[F]_d := delta_mx 0 r.
have b0 : a j *: (D *m (V *m C)) != 0 by rewrite scaler_eq0 negb_or aj /D -rowE.
have [c h] := turned z0 b0.
exists (fun k => if k == j then x k + c *: D else x k); split=> [k /negbTE -> //|].
by rewrite step_moved.
Qed.

(* M1(c).  Positive weights (finite softmax of the logits x_i W x_k), another key j <> i visible, rank CV >= 2: some *)
(* change of x_j leaves every logit of row i, hence its weights, as it is, and changes y_i.                          *)
Theorem M1c (W : 'M[F]_d) (a : T -> F) (x : T -> 'rV[F]_d) (i j : T) :
  j != i -> 0 < a j -> (1 < \rank (V *m C))%N -> step a x i != 0 ->
  exists x', [/\ forall k, k != j -> x' k = x k, forall k, form W (x' i) (x' k) = form W (x i) (x k)
    & ~ same_direction (step a x i) (step a x' i)].
Proof.
move=> ji aj rk z0; pose g := (x i *m W)^T; pose K := kermx g.
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
have [c h] := turned z0 b0.
exists (fun k => if k == j then x k + c *: D else x k); split=> [k /negbTE -> //|k|]; last by rewrite step_moved.
rewrite eq_sym (negbTE ji) /form; case: eqP => // _.
by rewrite dotDr dotZr gD mulr0 addr0.
Qed.
End Heard.
