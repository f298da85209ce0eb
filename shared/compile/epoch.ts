/** The epoch a state of a bounce module was entered with; the first pass comes from outside and has none. */
export const EPOCH = '{% $states.input.e ? $states.input.e : 0 %}'

/** The member `e` of payloads, inputs and outputs inside a bounce module. */
export function epochIn(epoch: boolean): { readonly e?: string } {
  return epoch ? { e: EPOCH } : {}
}
