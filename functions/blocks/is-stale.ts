import type { BlockCall } from './block-call.ts'

/** Whether the machine called in an earlier pass of the module than the one it is in: such a call changes nothing. */
export function isStale({ module, e, head }: BlockCall): boolean {
  if (module === undefined || e === undefined) return false
  return e !== (head.modules[String(module.key)]?.epoch ?? 0)
}
