import type { BounceCase } from '../../shared/runs/due-bounce.ts'
import type { BlockCall } from './block-call.ts'

/** What the rules of a block's bounce module are asked about its failed gates. */
export function bounceCase({ module, head, block }: BlockCall, gates: readonly string[]): BounceCase {
  const fired = module === undefined ? undefined : head.modules[String(module.key)]
  return { module, fired, block, gates }
}
