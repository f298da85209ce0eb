/** What rules of `on_gate_fail` call a rejection, with `on_reject: route`: no gate of such a block may have this name. */
export const REJECTION_GATE = 'approval'
