import type { PortType } from './dag.ts'
import type { PortDraft, Ports } from './read-ports.ts'
import type { Reading } from './reading.ts'
import type { Problem } from './report.ts'
import type { Path } from './source.ts'
import { didYouMean, suggest } from './suggest.ts'
import { listed } from './wording.ts'

/** What a research block can publish: the whole SearchResult, or members of it by name. */
export const RESULT_PORTS: Readonly<Record<string, { readonly type: PortType; readonly required: boolean }>> = {
  result: { type: 'json', required: true },
  synthesis: { type: 'string', required: true },
  evidence: { type: 'json', required: true },
  /** What the answer was held against: the evidence with its bodies and facts, for gates. */
  sources: { type: 'json', required: true },
  /** Absent where the candidates of the first search were the answer. */
  decomp_trace: { type: 'json', required: false },
  tokens_used: { type: 'number', required: true },
  iterations: { type: 'number', required: true },
}

/** Of a block that declares none. */
const IMPLIED = ['result', 'synthesis', 'evidence'] as const

/** The declared ports, each of them one of RESULT_PORTS and of its type; without any, result, synthesis and evidence. */
export function researchOutputs(reading: Reading, declared: Ports, path: Path): Ports {
  if (declared.size === 0) {
    const implied = IMPLIED.map((name): [string, PortDraft] => {
      return [name, { path: [...path, 'outputs', name], broken: false, ...RESULT_PORTS[name] }]
    })
    return new Map(implied)
  }
  for (const [name, port] of declared) {
    const made = Object.hasOwn(RESULT_PORTS, name) ? RESULT_PORTS[name] : undefined
    if (made === undefined) refuseName(reading, name, port.path)
    else if (port.type !== undefined && port.type !== made.type) refuseType(reading, name, port, made.type)
  }
  return declared
}

function refuseName({ problems }: Reading, name: string, path: Path): void {
  const known = Object.keys(RESULT_PORTS)
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} cannot be produced; a research block has ${listed(known)}`,
    hint: didYouMean(suggest(name, known)),
  })
  problems.push({ code: 'unknown_output', path, on: 'key', say })
}

function refuseType({ problems }: Reading, name: string, { path, type }: PortDraft, made: PortType): void {
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} is declared ${type}, but a search result's "${name}" is ${made}`,
  })
  problems.push({ code: 'type_mismatch', path, say })
}
