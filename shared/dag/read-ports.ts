import type { Json } from '../canonical.ts'
import { PORT_TYPES, type PortType } from './dag.ts'
import { isName, NAME_RULE } from './name.ts'
import { readSection } from './read-section.ts'
import { type Reading, readMapping } from './reading.ts'
import type { Problem } from './report.ts'
import { SECTIONS } from './sections.ts'
import type { Path } from './source.ts'
import { didYouMean, suggest } from './suggest.ts'
import { listed, shown } from './wording.ts'

/** A port or run input as written: what is wrong with it is already a problem. */
export interface PortDraft {
  readonly path: Path
  /** Absent when it was not given, or was wrong. */
  readonly type?: PortType
  /** It was wrong: nothing more can be said about its type. */
  readonly broken: boolean
  readonly required?: boolean | undefined
  readonly default?: Json | undefined
  readonly description?: string | undefined
  /** Not looked at yet. */
  readonly from?: Json | undefined
}

export type Ports = ReadonlyMap<string, PortDraft>

/** The ports of a mapping `name: type` or `name: {type, ..}`; a name that is not allowed is left out. */
export function readPorts(
  reading: Reading,
  kind: 'run_input' | 'input' | 'output',
  given: Json | undefined,
  path: Path,
): Ports {
  const ports = new Map<string, PortDraft>()
  if (given === undefined) return ports
  for (const [name, value] of Object.entries(readMapping(reading, given, path) ?? {})) {
    if (isName(name)) ports.set(name, readPort(reading, kind, value, [...path, name]))
    else refuseName(reading, [...path, name])
  }
  return ports
}

function readPort(reading: Reading, kind: 'run_input' | 'input' | 'output', given: Json, path: Path): PortDraft {
  if (typeof given === 'string') return { path, ...readType(reading, given, path) }
  const section = readSection(reading, SECTIONS[kind], given, path)
  if (section === undefined) return { path, broken: true }
  const { type, ...rest } = section
  return { path, ...rest, ...(type === undefined ? { broken: false } : readType(reading, type, [...path, 'type'])) }
}

function readType(
  { problems }: Reading,
  given: Json,
  path: Path,
): { type: PortType; broken: false } | { broken: true } {
  const type = PORT_TYPES.find((known) => known === given)
  if (type !== undefined) return { type, broken: false }
  const say: Problem['say'] = ({ place }) => {
    const name = typeof given === 'string' ? given : ''
    const near = suggest(name, PORT_TYPES)
    const wire = name.includes('.') ? `To wire an output, write { from: ${name.slice(0, 150)} }.` : undefined
    const text = `${place} has the unknown type ${shown(given)}; allowed are ${listed(PORT_TYPES)}`
    return { text, hint: didYouMean(near) ?? wire }
  }
  problems.push({ code: 'unknown_type', path, say })
  return { broken: true }
}

function refuseName({ problems }: Reading, path: Path): void {
  const say: Problem['say'] = ({ place }) => ({ text: `the name of ${place} is not allowed; allowed are ${NAME_RULE}` })
  problems.push({ code: 'illegal_name', path, on: 'key', say })
}
