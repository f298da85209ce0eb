import type { Json } from '../canonical.ts'
import type { GateComposition, GateUse } from './dag.ts'
import { readSection } from './read-section.ts'
import type { Reading } from './reading.ts'
import type { Problem } from './report.ts'
import { SECTIONS } from './sections.ts'
import type { Path } from './source.ts'
import { didYouMean, suggest } from './suggest.ts'
import { listed, quoted, shown } from './wording.ts'

/** The gates of one phase: those that are right, and the names and number of all that were written. */
export interface PhaseGates {
  readonly uses: readonly GateUse[]
  readonly names: readonly string[]
  readonly count: number
}

/** How verdicts become one (docs/dag.md, "gate_composition"). What its gates can never reach is a problem here. */
export function readComposition(
  reading: Reading,
  given: Json | undefined,
  path: Path,
  gates: Readonly<Record<'pre' | 'post', PhaseGates>>,
): { readonly pre: GateComposition; readonly post: GateComposition } {
  const section = given === undefined ? {} : readSection(reading, SECTIONS.gate_composition, given, path)
  const read = (phase: 'pre' | 'post') => readPhase(reading, section?.[phase], [...path, phase], gates[phase])
  return { pre: read('pre'), post: read('post') }
}

function readPhase(reading: Reading, given: Json | undefined, path: Path, gates: PhaseGates): GateComposition {
  if (given === undefined || given === 'all') return 'all'
  if (given === 'any') return 'any'
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    const text = 'allowed are all, any, { at_least: k } and { weights: { gate: w }, threshold: t }'
    refuse(reading, path, 'invalid_value', ({ place }) => ({ text: `${place} is ${shown(given)}; ${text}` }))
    return 'all'
  }
  return Object.hasOwn(given, 'at_least')
    ? readCount(reading, given, path, gates)
    : readWeights(reading, given, path, gates)
}

function readCount(reading: Reading, given: Json, path: Path, gates: PhaseGates): GateComposition {
  const k = readSection(reading, SECTIONS.at_least, given, path)?.at_least
  if (k === undefined) return 'all'
  const counted = gates.count - warningsOf(gates).size
  if (k > counted) {
    const say: Problem['say'] = ({ place }) => ({
      text: `${place} is ${k}, but the phase has ${gates.count} gates${counted < gates.count ? `, of which ${counted} count` : ''}`,
    })
    refuse(reading, [...path, 'at_least'], 'invalid_value', say)
  }
  return { at_least: k }
}

function readWeights(reading: Reading, given: Json, path: Path, gates: PhaseGates): GateComposition {
  const section = readSection(reading, SECTIONS.weights, given, path)
  if (section?.weights === undefined || section.threshold === undefined) return 'all'
  const { weights, threshold } = section
  const { names } = gates
  for (const name of Object.keys(weights)) {
    if (names.includes(name)) continue
    refuse(reading, [...path, 'weights', name], 'unknown_gate_name', ({ who }) => {
      const near = suggest(name, names)
      const text = `${who} weighs gate ${quoted(name)}, but its gates of that phase are ${listed(names)}`
      return { text, hint: didYouMean(near) }
    })
  }
  const warnings = warningsOf(gates)
  const sum = Object.entries(weights).reduce((total, [name, weight]) => total + (warnings.has(name) ? 0 : weight), 0)
  // A little less, since 0.1 + 0.2 is not 0.3 either.
  if (sum < threshold - 1e-9) {
    const say: Problem['say'] = ({ place }) => ({
      text: `${place} is ${threshold}, but all weights together are ${sum}`,
    })
    refuse(reading, [...path, 'threshold'], 'invalid_value', say)
  }
  return { weights, threshold }
}

/** Gates that count for nothing, whatever their verdict. */
function warningsOf({ uses }: PhaseGates): ReadonlySet<string> {
  return new Set(uses.flatMap(({ name, on_fail }) => (on_fail === 'warn' ? [name] : [])))
}

function refuse({ problems }: Reading, path: Path, code: string, say: Problem['say']): void {
  problems.push({ code, path, say })
}
