import type { Wait } from '../dag/dag.ts'
import { isNativeHandler, templatesOfCall } from '../dag/native-call.ts'
import { serviceRequestTexts, textsIn } from '../dag/service-request.ts'
import { type TemplateReference, templateReferences } from '../dag/template.ts'
import type { Problem } from '../text/document-problems.ts'
import type { Json } from '../text/json.ts'
import type { Path } from '../text/source-position.ts'
import { didYouMean, listed, quoted, suggest } from '../text/wording.ts'
import type { BlockDraft } from './block.ts'
import type { Ports } from './ports.ts'
import type { DocumentDraft } from './read-document.ts'
import type { Reading } from './sections.ts'
import { type InputTypes, type Reach, refuseUnknownBlock } from './wires.ts'

/**
 * Templates of a block (texts of its agent, path of its handler, question of its approval, list of its fan-out, inputs of
 * its child, question of its research): broken references are problems. Answers the names that are neither an input of the
 * block nor a declared run input: in a document that declares none they are run inputs, resolved from the context; in one
 * that declares some they are mistakes.
 */
export function checkTemplates(reading: Reading, block: BlockDraft, types: InputTypes, declared: Ports): Set<string> {
  const undeclared = new Set<string>()
  const { work, settled, path } = block
  const references = textsOf(work, settled).flatMap(([text, at]) =>
    templateReferences(text ?? '').map((reference) => ({ reference, at, place: [...path, ...at] })),
  )
  for (const { reference, at, place } of references) {
    const name = checkReference(reading, block, types, reference, place)
    if (name === undefined) continue
    if (name === settled.foreach?.as) checkItem(reading, name, place, SEES_ITEMS.has(at[0]))
    else if (declared.size > 0) refuseUndeclared(reading, block, declared, { name, path: place })
    else undeclared.add(name)
  }
  checkList(reading, block, types, declared)
  return undeclared
}

/** Who declares run inputs declares all of them: another name is a slip of the pen. */
function refuseUndeclared(
  { problems }: Reading,
  { inputs, settled }: BlockDraft,
  declared: Ports,
  { name, path }: { readonly name: string; readonly path: Path },
): void {
  if (declared.has(name)) return
  const item = SEES_ITEMS.has(path[2]) && settled.foreach !== undefined ? [settled.foreach.as] : []
  const known = [...new Set([...inputs.keys(), ...item, ...declared.keys()])]
  problems.push({ code: 'unknown_input', path, say: sayUnknown(name, known) })
}

/** Sections whose texts are rendered for each item of a fan-out. */
const SEES_ITEMS: ReadonlySet<Path[number] | undefined> = new Set(['agent', 'deterministic', 'wait'])

/** An item is there when the agent or the handler works on it, and neither when its list is made nor when a person is asked. */
function checkItem({ problems }: Reading, name: string, path: Path, isThere: boolean): void {
  if (isThere) return
  const text = `reads "inputs.${name}", an item of the fan-out; only "prompt" and "system" of the agent see items, "path" and the request of a handler, and "wait"`
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
    ...handlerTexts(work),
    ...childTexts(work),
  ]
}

/** The path of what a handler reads: an input may name the file. Of a request all it sends. */
function handlerTexts(work: BlockDraft['work']): readonly (readonly [string | undefined, Path])[] {
  if (work?.mode !== 'deterministic') return []
  if (work.handler === 'http') {
    return serviceRequestTexts(work.config).map(([text, at]) => [text, ['deterministic', 'config', ...at]] as const)
  }
  if (isNativeHandler(work.handler)) {
    const [key, given] = templatesOfCall(work.handler, work.config)
    // A config is JSON.
    return textsIn(given as Json | undefined, [key]).map(([text, at]) => [text, ['deterministic', 'config', ...at]])
  }
  if (work.handler === 'send-event') {
    const { key } = work.config
    return [[typeof key === 'string' ? key : undefined, ['deterministic', 'config', 'key']]]
  }
  const { path } = work.config
  return [[typeof path === 'string' ? path : undefined, ['deterministic', 'config', 'path']]]
}

function childTexts(work: BlockDraft['work']): readonly (readonly [string | undefined, Path])[] {
  if (work?.mode === 'dag') {
    return Object.entries(work.dag.inputs).map(([name, text]) => {
      return [typeof text === 'string' ? text : undefined, ['dag', 'inputs', name]]
    })
  }
  if (work?.mode === 'wait') return waitTexts(work.wait)
  if (work?.mode !== 'research') return []
  const { topic, hints } = work.research
  return [
    [topic, ['research', 'topic']],
    ...Object.entries(hints).map(([key, text]) => [text, ['research', 'hints', key]] as const),
  ]
}

function waitTexts(wait: Wait): readonly (readonly [string | undefined, Path])[] {
  if (wait.kind === 'until') return [[wait.at, ['wait', 'until']]]
  return wait.kind === 'event' ? [[wait.key, ['wait', 'event', 'key']]] : []
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
    hint: didYouMean(suggest(name, known)) ?? `Declare "${name}" in "inputs" of the document or of the block.`,
  })
}

/**
 * `approval.show` of every block: inputs of the block itself, or outputs of blocks that are done before it. What it
 * cannot show is a problem here: an approver decides on what is shown.
 */
export function checkShownPorts(
  { problems }: Reading,
  blocks: readonly BlockDraft[],
  byId: ReadonlyMap<string, BlockDraft>,
  { before }: Reach,
): void {
  for (const block of blocks) {
    const show = block.settled.approval?.show ?? []
    const upstream = show.some((entry) => entry.includes('.')) ? before(block) : new Set<BlockDraft>()
    for (const [index, entry] of show.entries()) {
      const problem = shownProblem(entry, block, byId, upstream)
      if (problem === undefined) continue
      const [code, why] = problem
      const say: Problem['say'] = ({ who }) => ({ text: `${who} shows ${quoted(entry)} to its approver, but ${why()}` })
      problems.push({ code, path: [...block.path, 'approval', 'show', index], say })
    }
  }
}

function shownProblem(
  entry: string,
  { inputs }: BlockDraft,
  byId: ReadonlyMap<string, BlockDraft>,
  upstream: ReadonlySet<BlockDraft>,
): readonly [code: string, why: () => string] | undefined {
  const [id = '', output, ...more] = entry.split('.')
  if (output === undefined) {
    return inputs.has(entry) ? undefined : ['unknown_input', () => `its inputs are ${listed(inputs.keys())}`]
  }
  const source = byId.get(id)
  if (source === undefined) return ['unknown_block', () => `there is no such block; blocks are ${listed(byId.keys())}`]
  if (more.length > 0 || !source.outputs.has(output)) {
    return ['unknown_output', () => `outputs of "${id}" are ${listed(source.outputs.keys())}`]
  }
  return upstream.has(source) ? undefined : ['not_upstream', () => `"${id}" is not done before this block`]
}

/**
 * `entrypoints` and `terminals` have no effect here, since the wires say what comes first and last. They must name
 * blocks; one that is not what it is called is worth a warning: its author expects something else to happen.
 */
export function checkEntrypointsAndTerminals(
  reading: Reading,
  byId: ReadonlyMap<string, BlockDraft>,
  { entrypoints, terminals }: Pick<DocumentDraft, 'entrypoints' | 'terminals'>,
  { before, after }: Reach,
): void {
  const ends = [
    { key: 'entrypoints', ids: entrypoints, beyond: before, why: 'waits for other blocks and starts after them' },
    { key: 'terminals', ids: terminals, beyond: after, why: 'is followed by other blocks, which run too' },
  ] as const
  for (const { key, ids, beyond, why } of ends) {
    for (const [index, id] of ids.entries()) {
      const block = byId.get(id)
      if (block === undefined) refuseUnknownBlock(reading, byId, id, [key, index])
      else if (beyond(block).size > 0) {
        const message = `"${key}" names block "${id}", which ${why}; the wires decide, not this list.`
        reading.warnings.push({ code: 'end_has_no_effect', path: `${key}[${index}]`, message })
      }
    }
  }
}
