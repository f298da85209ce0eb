import type { Json } from '../canonical.ts'
import type { Block, CachePolicy } from './dag.ts'
import type { BlockPorts } from './read-block-ports.ts'
import { readBounces } from './read-bounces.ts'
import { readCondition, readDepends } from './read-condition.ts'
import { readForeach } from './read-foreach.ts'
import type { BlockGates } from './read-gates.ts'
import { readRetry } from './read-retry.ts'
import { readSection } from './read-section.ts'
import type { Reading } from './reading.ts'
import type { Problem } from './report.ts'
import { SECTIONS } from './sections.ts'
import type { Path } from './source.ts'

/** Whether, how often and over what a block runs. */
export interface Flow {
  readonly settled: Pick<Block, 'when' | 'depends' | 'on_gate_fail' | 'foreach' | 'cache' | 'retry'>
  readonly reads: Readonly<Record<'when' | 'depends', readonly (readonly string[])[]>>
}

type Keys = 'when' | 'depends' | 'on_gate_fail' | 'foreach' | 'cache' | 'retry'
type Mappable = Readonly<Partial<Record<Keys, Json | undefined>>>

/** What was read of the block before. */
type Known = Pick<BlockGates, 'names' | 'routing'> & { readonly ports: BlockPorts; readonly mode?: Json | undefined }

/** Keys that these modes have no use for: a person is asked once, and a child is a run of its own. */
const ALONE: readonly Keys[] = ['foreach', 'cache']

/** Reads those keys of a block; what they name in other blocks is looked at when all blocks are read. */
export function readFlow(reading: Reading, block: Mappable, path: Path, { ports, mode = 'ai', ...gates }: Known): Flow {
  if (mode === 'approval' || mode === 'dag' || mode === 'research') refuseBeside(reading, block, mode, path)
  const when = readCondition(reading, block.when, [...path, 'when'], ['inputs'])
  const depends = readDepends(reading, block.depends, [...path, 'depends'])
  const on_gate_fail = readBounces(reading, block.on_gate_fail, [...path, 'on_gate_fail'], gates)
  const foreach = readForeach(reading, block.foreach, [...path, 'foreach'], { ports, names: gates.names })
  const cache = readCache(reading, block.cache, [...path, 'cache'])
  return {
    settled: {
      retry: readRetry(reading, block.retry, [...path, 'retry']),
      ...(when === undefined ? {} : { when: when.text }),
      ...(depends === undefined ? {} : { depends: depends.text }),
      ...(on_gate_fail === undefined ? {} : { on_gate_fail }),
      ...(foreach === undefined ? {} : { foreach }),
      ...(cache === undefined ? {} : { cache }),
    },
    reads: { when: when?.paths ?? [], depends: depends?.paths ?? [] },
  }
}

function refuseBeside({ problems }: Reading, block: Mappable, mode: 'approval' | 'dag' | 'research', path: Path): void {
  for (const key of ALONE) {
    if (block[key] === undefined) continue
    const say: Problem['say'] = ({ who }) => ({
      text: `${who} has "${key}", which does not go with mode "${mode}"`,
      hint: mode === 'dag' ? `Give "${key}" to blocks of the child, or remove it.` : 'Remove it.',
    })
    problems.push({ code: 'mode_mismatch', path: [...path, key], on: 'key', say })
  }
}

function readCache(reading: Reading, given: Json | undefined, path: Path): CachePolicy | undefined {
  const section = given === undefined ? undefined : readSection(reading, SECTIONS.cache, given, path)
  if (section?.max_age_sec === undefined) return undefined
  return { key: 'inputs', max_age_sec: section.max_age_sec }
}
