import type { BlockDraft } from './read-block.ts'
import type { Ports } from './read-ports.ts'
import type { Reading } from './reading.ts'
import type { Problem } from './report.ts'
import type { InputTypes } from './settle-types.ts'
import { didYouMean, suggest } from './suggest.ts'
import { listed, quoted } from './wording.ts'

/** `when` reads inputs of the block and run inputs, declared or read by a template; everything else is a mistake. */
export function checkConditions(
  { problems }: Reading,
  { inputs, reads, path }: BlockDraft,
  types: InputTypes,
  declared: Ports,
  undeclared: ReadonlySet<string>,
): void {
  for (const [, name, ...members] of reads.when) {
    if (name === undefined) continue
    const port = inputs.get(name) ?? declared.get(name)
    const at = [...path, 'when']
    if (port !== undefined) {
      const type = types.get(port) ?? port.type
      if (hasNoMember(type, members))
        problems.push({ code: 'type_mismatch', path: at, say: sayMember(name, members, type) })
    } else if (!undeclared.has(name)) {
      const known = [...inputs.keys(), ...declared.keys(), ...undeclared]
      problems.push({ code: 'unknown_input', path: at, say: sayUnknown(name, known) })
    }
  }
}

/** A text has a length; json may have anything. */
function hasNoMember(type: string | undefined, [first]: readonly string[]): boolean {
  if (first === undefined || type === undefined || type === 'json') return false
  return !(first === 'length' && (type === 'string' || type === 'file' || type === 'artifact'))
}

function sayMember(name: string, members: readonly string[], type = ''): Problem['say'] {
  const text = `reads ${quoted(['inputs', name, ...members].join('.'))}, but input ${quoted(name)} is a ${type} and has no such member`
  return ({ place }) => ({ text: `${place} ${text}` })
}

function sayUnknown(name: string, known: readonly string[]): Problem['say'] {
  return ({ place }) => ({
    text: `${place} reads ${quoted(`inputs.${name}`)}, but inputs of the block and of the run are ${listed(known)}`,
    hint: didYouMean(suggest(name, known)),
  })
}
