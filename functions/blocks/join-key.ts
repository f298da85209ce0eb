/** Each pass of a bounce module fills its joins anew: the item of epoch 0 has the join's own name. */
export function joinKey(join: string, e: number | undefined): string {
  return e === undefined || e === 0 ? join : `${join}~${e}`
}
