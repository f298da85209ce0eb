import * as z from 'zod'
import { type CompletionSettings, type Dag, DEFAULT_COMPLETION, type PortType } from '../dag/dag.ts'
import { readUnboundContract } from '../goals/bind-contract.ts'
import { LIMITS } from '../limits.ts'
import type { Labels } from '../runs/labels.ts'
import { LabelsSchema } from '../runs/labels-schema.ts'
import { SUBJECT_LIMITS, SUBJECT_PATH } from '../runs/subject.ts'
import type { Problem } from '../text/document-problems.ts'
import type { Json } from '../text/json.ts'
import type { Path } from '../text/source-position.ts'
import { didYouMean, listed, quoted, suggest } from '../text/wording.ts'
import type { Trigger } from '../triggers/trigger.ts'
import { type BlockDraft, readBlock, readBudget } from './block.ts'
import { readConcurrency } from './concurrency-section.ts'
import { type Ports, readPorts } from './ports.ts'
import { type Reading, readList, readMember, readSection, SECTIONS } from './sections.ts'
import { readTriggers } from './trigger-section.ts'
import { checkDefaults, findOutput } from './wires.ts'

/** The parts of a document, each read on its own. */
export interface DocumentDraft {
  readonly name?: string
  readonly version?: string
  readonly inputs: Ports
  readonly blocks: readonly BlockDraft[]
  /** Of two blocks with one id the first. */
  readonly byId: ReadonlyMap<string, BlockDraft>
  readonly edges: Json | undefined
  readonly budget?: Dag['budget']
  readonly concurrency?: Dag['concurrency']
  readonly goal: Pick<Dag, 'completion' | 'goal_contract'>
  readonly entrypoints: readonly string[]
  readonly terminals: readonly string[]
  readonly labels?: Labels
  readonly subjects?: readonly string[]
  readonly triggers: readonly Trigger[]
}

/** Reads a document; `undefined` when there is nothing to go on with: no mapping, or more blocks than are read at all. */
export function readDocument(reading: Reading, given: Json): DocumentDraft | undefined {
  const section = readSection(reading, SECTIONS.document, given, [])
  if (section === undefined) return undefined
  const inputs = readPorts(reading, 'run_input', section.inputs, ['inputs'])
  checkDefaults(reading, inputs, (port) => port.type)
  const blocks = readBlocks(reading, section.blocks)
  if (blocks === undefined) return undefined
  const { name, version, edges, entrypoints = [], terminals = [] } = section
  const budget = readBudget(reading, 'budget', section.budget, ['budget'])
  const concurrency = readConcurrency(reading, section.concurrency, inputs)
  const told = {
    ...(concurrency === undefined ? {} : { concurrency }),
    ...(budget === undefined ? {} : { budget: { ...budget, on_exceed: onExceed(section.budget) } }),
    ...(name === undefined ? {} : { name }),
    ...(version === undefined ? {} : { version: String(version) }),
  }
  const byId = indexBlocks(reading, blocks)
  const completion = readCompletion(reading, section.completion, byId)
  const goal = { ...(completion === undefined ? {} : { completion }), ...readContract(reading, section, inputs) }
  const triggers = readTriggers(reading, section.triggers)
  const labels = readLabels(reading, section.labels)
  const subjects = readSubjects(reading, section.subject, inputs)
  return {
    ...told,
    ...(labels === undefined ? {} : { labels }),
    ...(subjects === undefined ? {} : { subjects }),
    inputs,
    blocks,
    byId,
    edges,
    entrypoints,
    terminals,
    goal,
    triggers,
  }
}

/** A mapping is the labels of its runs; what else other systems' documents have there is for people, and does nothing. */
function readLabels(reading: Reading, given: Json | undefined): Labels | undefined {
  if (given === undefined) return undefined
  if (typeof given === 'object' && given !== null && !Array.isArray(given))
    return readMember(reading, LabelsSchema, given, ['labels'])
  const message =
    '"labels" has no effect: it is no mapping of keys to texts, as { team: growth }, which its runs would have.'
  reading.warnings.push({ code: 'key_without_effect', path: 'labels', message })
  return undefined
}

/** Where it stands whose data a run holds: `inputs.NAME`, or of what is inside, one or several. */
function readSubjects(reading: Reading, given: Json | undefined, inputs: Ports): readonly string[] | undefined {
  if (given === undefined) return undefined
  const read = readMember(reading, SubjectPathsSchema, given, ['subject'])
  if (read === undefined) return undefined
  const paths = typeof read === 'string' ? [read] : read
  for (const path of paths) {
    const [, name = ''] = path.split('.')
    if (inputs.has(name)) continue
    const names = [...inputs.keys()]
    const hint = didYouMean(suggest(name, names)) ?? 'Declare it under "inputs".'
    const declared = names.length === 0 ? 'no run inputs' : listed(names)
    const text = `"subject" reads ${quoted(`inputs.${name}`)}; the document declares ${declared}`
    reading.problems.push({ code: 'unknown_subject_input', path: ['subject'], say: () => ({ text, hint }) })
  }
  return [...new Set(paths)]
}

const subjectPath = z
  .string('must be inputs.NAME, or inputs.NAME.KEY of what is inside')
  .regex(SUBJECT_PATH, 'must be inputs.NAME, or inputs.NAME.KEY of what is inside, 8 names at most')
const SubjectPathsSchema = z.union([subjectPath, z.array(subjectPath).min(1).max(SUBJECT_LIMITS.subjects)])

/** One that is wrong in any way is a problem, never no contract. */
function readContract(
  { problems }: Reading,
  { goal_contract: given }: { readonly goal_contract?: Json | undefined },
  inputs: Ports,
): Pick<Dag, 'goal_contract'> {
  if (given === undefined) return {}
  const declared = new Map([...inputs].map(([name, { type }]) => [name, type]))
  const read = readUnboundContract(given, ['goal_contract'], declared)
  problems.push(...read.problems)
  return read.contract === undefined ? {} : { goal_contract: read.contract }
}

/** It was looked at with its section. */
function onExceed(budget: Json | undefined): 'fail' | 'ask' {
  const isAsking = typeof budget === 'object' && budget !== null && 'on_exceed' in budget && budget.on_exceed === 'ask'
  return isAsking ? 'ask' : 'fail'
}

function readBlocks(reading: Reading, given: Json | undefined): readonly BlockDraft[] | undefined {
  const blocks = given === undefined ? undefined : readList(reading, given, ['blocks'])
  const hint = 'Give "blocks" a list with at least one block.'
  if (given === undefined) refuse(reading, 'missing_blocks', 'the document has no blocks', hint)
  if (blocks?.length === 0) refuse(reading, 'empty_blocks', 'the document has an empty list of blocks', hint)
  if (blocks !== undefined && blocks.length > LIMITS.blocks) {
    refuse(reading, 'limit_exceeded', `the document has ${blocks.length} blocks; the limit is ${LIMITS.blocks}`)
    return undefined
  }
  return (blocks ?? []).flatMap((block, index) => readBlock(reading, block, index) ?? [])
}

function refuse({ problems }: Reading, code: string, text: string, hint?: string): void {
  problems.push({ code, path: ['blocks'], on: 'key', say: () => ({ text, hint }) })
}

/** By id; of two blocks with one id the first is meant, and the second is a problem. */
function indexBlocks({ problems }: Reading, blocks: readonly BlockDraft[]): ReadonlyMap<string, BlockDraft> {
  const byId = new Map<string, BlockDraft>()
  for (const block of blocks) {
    if (block.id === undefined) continue
    const first = byId.get(block.id)
    if (first === undefined) byId.set(block.id, block)
    else {
      const text = `blocks[${block.index}] has the id "${block.id}", which blocks[${first.index}] has already`
      const say: Problem['say'] = () => ({ text, hint: 'Give each block an id of its own.' })
      problems.push({ code: 'duplicate_id', path: [...block.path, 'id'], say })
    }
  }
  return byId
}

type Blocks = ReadonlyMap<string, BlockDraft>

/** The section `completion`, its refs looked up among the blocks. */
function readCompletion(reading: Reading, given: Json | undefined, byId: Blocks): CompletionSettings | undefined {
  const path = ['completion']
  const section = given === undefined ? undefined : readSection(reading, SECTIONS.completion, given, path)
  if (section === undefined) return undefined
  const { trust, quality, pivot, contract, claim, blockers } = section
  const from = trust === undefined ? undefined : readTrust(reading, trust, byId)
  const refs = { claim, blockers }
  for (const key of ['claim', 'blockers'] as const) {
    if (refs[key] !== undefined) checkRef(reading, refs[key], byId, { path: [...path, key], types: TEXTS })
  }
  return {
    quality: quality ?? DEFAULT_COMPLETION.quality,
    pivot: pivot ?? DEFAULT_COMPLETION.pivot,
    contract: contract ?? DEFAULT_COMPLETION.contract,
    ...(from === undefined ? {} : { trust: { from } }),
    ...(claim === undefined ? {} : { claim }),
    ...(blockers === undefined ? {} : { blockers }),
  }
}

/** What can be a trust score or hold one; and what can be a status or a list of texts. */
const SCORES: readonly PortType[] = ['number', 'json']
const TEXTS: readonly PortType[] = ['string', 'json']

/** One ref or several; each once. */
function readTrust(reading: Reading, given: Json, byId: Blocks): readonly string[] | undefined {
  const path = ['completion', 'trust']
  const from = readSection(reading, SECTIONS.trust, given, path)?.from
  if (from === undefined) return undefined
  if (typeof from === 'string') checkRef(reading, from, byId, { path: [...path, 'from'], types: SCORES })
  else {
    for (const [index, ref] of from.entries())
      checkRef(reading, ref, byId, { path: [...path, 'from', index], types: SCORES })
  }
  return [...new Set(typeof from === 'string' ? [from] : from)]
}

function checkRef(
  reading: Reading,
  ref: string,
  byId: Blocks,
  { path, types }: { readonly path: Path; readonly types: readonly PortType[] },
): void {
  const found = findOutput(reading, byId, ref, path)
  const type = found?.block.outputs.get(found.output)?.type
  if (type === undefined || types.includes(type)) return
  const say: Problem['say'] = ({ place }) => ({
    text: `${place} is ${quoted(ref)}, whose type is ${type}; allowed are ${types.join(' and ')}`,
  })
  reading.problems.push({ code: 'type_mismatch', path, say })
}
