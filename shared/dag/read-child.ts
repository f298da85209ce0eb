import type { Json } from '../canonical.ts'
import type { ChildDag } from './dag.ts'
import { isName, NAME_RULE } from './name.ts'
import type { Ports } from './read-ports.ts'
import { readSection } from './read-section.ts'
import { type Mapping, type Reading, readMapping } from './reading.ts'
import type { Problem } from './report.ts'
import { SECTIONS } from './sections.ts'
import type { Path } from './source.ts'
import { didYouMean, suggest } from './suggest.ts'
import { listed, quoted, shown } from './wording.ts'

/** The section `dag`: which deployed document runs as a child, what it is given and what comes back. */
export function readChild(
  reading: Reading,
  given: Json,
  path: Path,
  outputs: Ports,
): { readonly mode: 'dag'; readonly dag: ChildDag } | undefined {
  const section = readSection(reading, SECTIONS.child, given, path)
  if (section?.name === undefined) return undefined
  const inputs = readNamed(reading, section.inputs, [...path, 'inputs'])
  const taken = readNamed(reading, section.outputs, [...path, 'outputs'])
  for (const [port, source] of Object.entries(taken)) {
    const at = [...path, 'outputs', port]
    if (!outputs.has(port)) refusePort(reading, port, at, outputs)
    if (!isReference(source)) refuseReference(reading, source, at)
  }
  // Every other value was refused above.
  return { mode: 'dag', dag: { name: section.name, inputs, outputs: taken as Readonly<Record<string, string>> } }
}

/** A mapping whose keys are names. */
function readNamed(reading: Reading, given: Json | undefined, path: Path): Mapping {
  const mapping = given === undefined ? {} : (readMapping(reading, given, path) ?? {})
  for (const key of Object.keys(mapping)) {
    if (isName(key)) continue
    const say: Problem['say'] = ({ place }) => ({
      text: `the name of ${place} is not allowed; allowed are ${NAME_RULE}`,
    })
    reading.problems.push({ code: 'illegal_name', path: [...path, key], on: 'key', say })
  }
  return mapping
}

function isReference(source: Json): boolean {
  const [block = '', output = '', ...more] = typeof source === 'string' ? source.split('.') : []
  return more.length === 0 && isName(block) && isName(output)
}

function refusePort({ problems }: Reading, port: string, path: Path, outputs: Ports): void {
  const say: Problem['say'] = ({ who }) => ({
    text: `${who} fills ${quoted(port)} from its child, but its outputs are ${listed(outputs.keys())}`,
    hint: didYouMean(suggest(port, outputs.keys())),
  })
  problems.push({ code: 'unknown_output', path, on: 'key', say })
}

function refuseReference({ problems }: Reading, source: Json, path: Path): void {
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} is ${shown(source)}; allowed is BLOCK.OUTPUT of the child`,
  })
  problems.push({ code: 'malformed_from', path, say })
}
