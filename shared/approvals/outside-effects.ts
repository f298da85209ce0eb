import type { Block } from '../dag/dag.ts'
import { leavesOf } from '../gates/check-parts.ts'

/** What a block does that its outputs alone do not show. */
export interface Effect {
  readonly kind: 'command' | 'request' | 'child' | 'task' | 'artifact'
  /** For people: `runs a command (gate tests)`. */
  readonly words: string
}

/** Its handler's, its child run's, and those of its gates that reach outside, each once. */
export function effectsOf(block: Block): readonly Effect[] {
  const gates = [...block.pre_gates, ...block.post_gates, ...(block.foreach?.item_gates ?? [])]
  const ofGates = gates.flatMap(({ name, check }) =>
    leavesOf(check).flatMap((leaf): readonly Effect[] => {
      const kind = GATES[leaf.type]
      return kind === undefined ? [] : [{ kind, words: `${DOES[kind]} (gate ${name})` }]
    }),
  )
  const all = [...ofWork(block), ...ofGates]
  return all.filter(({ words }, i) => all.findIndex((other) => other.words === words) === i)
}

const GATES: Readonly<Partial<Record<string, 'command' | 'request'>>> = {
  shell: 'command',
  http: 'request',
  webhook: 'request',
}
const DOES = { command: 'runs a command', request: 'calls an address outside' } as const

function ofWork(block: Block): readonly Effect[] {
  if (block.mode === 'dag') return [{ kind: 'child', words: `starts child run ${block.dag.name}` }]
  if (block.mode === 'research') return [{ kind: 'child', words: 'starts a research run' }]
  if (block.mode !== 'deterministic') return []
  const { name, to } = block.config
  switch (block.handler) {
    case 'write-artifact':
      return [{ kind: 'artifact', words: `writes artifact ${String(name)}` }]
    case 'classify-table':
      return block.config.artifact === undefined
        ? []
        : [{ kind: 'artifact', words: `writes artifact ${String(block.config.artifact)}` }]
    case 'builtin:write-file':
      return [{ kind: 'artifact', words: 'writes an artifact' }]
    case 'move-task':
      return [{ kind: 'task', words: `moves the task to ${String(to)}` }]
    default:
      return []
  }
}
