/** The lane of a bounce module in HEAD (`m0`): it moves whenever the module is sent back. */
export function moduleLane({ key }: { readonly key: number }): string {
  return `m${key}`
}
