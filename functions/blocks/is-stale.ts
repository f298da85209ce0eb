import type { BlockCall } from './block-call.ts'

/**
 * Whether the machine called in another pass of the module than the one it is in (none = the first): such a call changes
 * nothing.
 */
export function isStale({ module, e = 0, head }: BlockCall): boolean {
  return module !== undefined && e !== (head.modules[String(module.key)]?.epoch ?? 0)
}
