import type { BlockDraft } from './read-block.ts'
import type { Ports } from './read-ports.ts'
import type { Reading } from './reading.ts'
import type { Problem } from './report.ts'
import type { InputTypes } from './settle-types.ts'
import type { Path } from './source.ts'
import { suggest } from './suggest.ts'
import { type TemplateReference, templateReferences } from './template.ts'
import { quoted } from './wording.ts'

/**
 * Templates of a block (texts of its agent, question of its approval, list of its fan-out, inputs of its child, question of its research): broken
 * references are problems. Answers the names that are neither an input of the block nor a declared run input: they are run inputs,
 * resolved from the context.
 */
export function checkTemplates(reading: Reading, block: BlockDraft, types: InputTypes, declared: Ports): Set<string> {
  const undeclared = new Set<string>()
  const { work, settled, path } = block
  const { foreach } = settled
  for (const [text, at] of textsOf(work, settled)) {
    for (const reference of templateReferences(text ?? '')) {
      const name = checkReference(reading, block, types, reference, [...path, ...at])
      if (name === foreach?.as && name !== undefined) checkItem(reading, name, [...path, ...at], at[0] === 'agent')
      else if (name !== undefined && !declared.has(name)) undeclared.add(name)
    }
  }
  checkList(reading, block, types, declared)
  return undeclared
}

/** An item is there when the agent works on it, and neither when its list is made nor when a person is asked. */
function checkItem({ problems }: Reading, name: string, path: Path, isThere: boolean): void {
  if (isThere) return
  const text = `reads "inputs.${name}", an item of the fan-out; only "prompt" and "system" of the agent see items`
  problems.push({ code: 'unknown_input', path, say: ({ place }) => ({ text: `${place} ${text}` }) })
}

/** Only json holds a list. */
function checkList({ problems }: Reading, block: BlockDraft, types: InputTypes, declared: Ports): void {
  const { items } = block.settled.foreach ?? {}
  const [reference] = typeof items === 'string' ? templateReferences(items) : []
  if (reference?.kind !== 'input' || reference.path.length > 1) return
  const [name] = reference.path
  const port = block.inputs.get(name) ?? declared.get(name)
  const type = port === undefined ? undefined : (types.get(port) ?? port.type)
  if (type === undefined || type === 'json') return
  const text = `reads "inputs.${name}", a ${type}; a list comes from an input of type json`
  const path = [...block.path, 'foreach', 'items']
  problems.push({ code: 'type_mismatch', path, say: ({ place }) => ({ text: `${place} ${text}` }) })
}

/** Every text of a block that is a template, with its path in the block. */
function textsOf(
  work: BlockDraft['work'],
  { approval, foreach }: BlockDraft['settled'],
): readonly (readonly [string | undefined, Path])[] {
  const agent = work?.mode === 'ai' ? work.agent : undefined
  return [
    [agent?.prompt, ['agent', 'prompt']],
    [agent?.system, ['agent', 'system']],
    [approval?.prompt, ['approval', 'prompt']],
    [typeof foreach?.items === 'string' ? foreach.items : undefined, ['foreach', 'items']],
    ...childTexts(work),
  ]
}

function childTexts(work: BlockDraft['work']): readonly (readonly [string | undefined, Path])[] {
  if (work?.mode === 'dag') {
    return Object.entries(work.dag.inputs).map(([name, text]) => {
      return [typeof text === 'string' ? text : undefined, ['dag', 'inputs', name]]
    })
  }
  if (work?.mode !== 'research') return []
  const { topic, hints } = work.research
  return [
    [topic, ['research', 'topic']],
    ...Object.entries(hints).map(([key, text]) => [text, ['research', 'hints', key]] as const),
  ]
}

/** The port or run input a sound reference reads, unless it is an input of the block. */
function checkReference(
  { problems }: Reading,
  { inputs }: BlockDraft,
  types: InputTypes,
  reference: TemplateReference,
  path: Path,
): string | undefined {
  if (reference.kind === 'malformed') {
    problems.push({ code: 'malformed_template', path, say: sayMalformed(reference.text, inputs) })
    return undefined
  }
  const [name, ...members] = reference.path
  const port = inputs.get(name)
  if (port === undefined) return name
  const type = types.get(port)
  if (members.length > 0 && type !== undefined && type !== 'json') {
    const text = `reads "inputs.${reference.path.join('.')}", but input "${name}" is a ${type} and has no members`
    problems.push({ code: 'type_mismatch', path, say: ({ place }) => ({ text: `${place} ${text}` }) })
  }
  return undefined
}

function sayMalformed(text: string, inputs: Ports): Problem['say'] {
  return ({ place }) => {
    const word = text.slice(2, -2).trim()
    const near =
      suggest(word.split('.').at(-1) ?? '', inputs.keys()) ?? (/^[A-Za-z][\w-]*$/.test(word) ? word : undefined)
    return {
      text: `${place} has ${quoted(text)}; a template reads inputs as {{inputs.NAME}}`,
      hint: near === undefined ? undefined : `Did you mean "{{inputs.${near}}}"?`,
    }
  }
}
