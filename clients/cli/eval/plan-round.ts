import { existsSync, readdirSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import type { Dag } from '../../../shared/dag/dag.ts'
import { Fault } from '../../../shared/errors.ts'
import { type Evaluation, parseEval, type Variant } from '../../../shared/evals/eval-file.ts'
import { fillItem, type Item, named, tableItems, writtenItems } from '../../../shared/evals/items.ts'
import { sha256 } from '../../../shared/text/hash.ts'
import { canonicalJson, type Json } from '../../../shared/text/json.ts'
import { readYaml } from '../../../shared/text/yaml.ts'
import type { paths } from '../../api/schema.generated.ts'
import { parseHere } from '../documents/document-files.ts'
import { exampleNames } from '../documents/examples.ts'
import { callApi, type Target } from '../server/api.ts'
import { readFile } from '../terminal/files.ts'
import { typedValue } from '../terminal/input-values.ts'
import { Refused, usageError } from '../terminal/refused.ts'

export type StartBody = NonNullable<paths['/api/dag/run']['post']['requestBody']>['content']['application/json']

/** What one variant starts, but for the values of an item. */
interface PlannedVariant {
  readonly name: string
  readonly sha256: string
  bodyFor(item: Item): StartBody
}

/** Everything that decides what a round runs. */
export interface Plan {
  readonly name: string
  readonly evaluation: Evaluation
  readonly variants: readonly PlannedVariant[]
  readonly items: readonly Item[]
  /** Gates of the evaluation, as BLOCK/GATE. */
  readonly asserted: readonly string[]
  readonly hash: string
}

export interface EvalFile {
  readonly path: string
  readonly name: string
  readonly evaluation: Evaluation
}

export function readEvalFile(path: string): EvalFile {
  const evaluation = parseEval(readFile(path, 'evaluation'), path)
  const name =
    evaluation.name ??
    basename(path)
      .replace(/\.ya?ml$/, '')
      .replace(/[^A-Za-z0-9._-]+/g, '-')
  return { path, name, evaluation }
}

/** A project with one evaluation need not say which. */
export function chooseEval(given: string | undefined): string {
  if (given !== undefined) return given
  const [first, ...others] = evalFiles()
  if (first === undefined)
    throw usageError('There is no evaluation in evals/ here. Name a file; docs/eval.md says what stands in it.')
  if (others.length === 0) return first
  throw usageError(`There are ${others.length + 1} evaluations here: ${[first, ...others].join(', ')}. Name one.`)
}

export function evalFiles(): readonly string[] {
  if (!existsSync('evals')) return []
  const names = readdirSync('evals').filter((name) => /\.ya?ml$/.test(name))
  return names.sort().map((name) => join('evals', name))
}

/** Which items, where they are past runs: those of a round that goes on, not the newest ones. */
export async function planRound(
  file: EvalFile,
  target: () => Promise<Target>,
  items?: readonly string[],
): Promise<Plan> {
  const { evaluation, name } = file
  const found = await itemsOf(file, target, items)
  const variants = evaluation.variants.map((variant) => planVariant(file, variant))
  const asserted = evaluation.gates.map((gate) => `${gate.block}/${gate.name}`)
  // A column that an item does not have is told before anything is started.
  for (const item of found) {
    for (const variant of variants) variant.bodyFor(item)
    for (const one of [...evaluation.expect, ...item.expect]) fillItem(one.check, item, `the check of ${one.name}`)
  }
  const { expect, decisions } = evaluation
  const hash = sha256(
    canonicalJson({
      name,
      variants: variants.map((variant) => [variant.name, variant.sha256]),
      items: found.map(({ id, sha256: hash }) => [id, hash]),
      expect,
      decisions,
    }),
  )
  return { name, evaluation, variants, items: found, asserted, hash }
}

async function itemsOf(
  { path, evaluation: { data } }: EvalFile,
  target: () => Promise<Target>,
  ids?: readonly string[],
): Promise<readonly Item[]> {
  if (data.runs !== undefined) return named(await pastRuns(await target(), data.runs, ids), path, data)
  if (data.file === undefined) return writtenItems(path, data)
  const file = join(dirname(path), data.file)
  return tableItems(readFile(file, 'data'), file, data)
}

const ListSchema = z.looseObject({
  runs: z.array(z.looseObject({ run_id: z.string() })),
  next_cursor: z.string().nullable(),
})
const json = z.custom<Json>(() => true)
const PastSchema = z.looseObject({ dag: z.looseObject({ inputs: z.record(z.string(), z.unknown()).optional() }) })
const ContextSchema = z.looseObject({ values: z.record(z.string(), json) })

/** Past runs of a document, oldest first, with the run inputs they had. */
async function pastRuns(
  target: Target,
  { dag, status, limit }: NonNullable<Evaluation['data']['runs']>,
  given?: readonly string[],
) {
  const ids = given ?? (await newestRuns(target, { dag, status, limit })).toReversed()
  const items: { id: string; values: Record<string, Json> }[] = []
  for (const run_id of ids) {
    const params = { path: { run_id } }
    const run = await callApi(target, PastSchema, (api) => api.GET('/api/dag/runs/{run_id}', { params }))
    const context = await callApi(target, ContextSchema, (api) => api.GET('/api/dag/runs/{run_id}/context', { params }))
    const inputs = Object.keys(run.dag.inputs ?? {}).flatMap((key) => {
      const value = context.values[key]
      return value === undefined ? [] : [[key, value] as const]
    })
    items.push({ id: run_id, values: { ...Object.fromEntries(inputs), run_id } })
  }
  return items
}

interface Which {
  readonly dag: string
  readonly status: NonNullable<Evaluation['data']['runs']>['status']
  readonly limit: number
}

async function newestRuns(target: Target, { dag, status, limit }: Which): Promise<readonly string[]> {
  const ids: string[] = []
  for (let cursor: string | undefined; ids.length < limit; ) {
    const page = await callApi(target, ListSchema, (api) =>
      api.GET('/api/dag/runs', {
        params: { query: { dag, role: 'root', limit: 500, ...(status && { status }), ...(cursor && { cursor }) } },
      }),
    )
    ids.push(...page.runs.map(({ run_id }) => run_id))
    if (page.next_cursor === null) break
    cursor = page.next_cursor
  }
  return ids.slice(0, limit)
}

/** A document of a variant: what the start route takes, and its parsed form where its text is here. */
interface VariantDocument {
  readonly body: StartBody
  readonly dag: Dag | undefined
  /** Decides what is run, with the inputs. */
  readonly identity: Json
}

function planVariant(file: EvalFile, variant: Variant): PlannedVariant {
  const { evaluation } = file
  const { body, dag, identity } = documentOf(file, variant)
  const inputs =
    evaluation.inputs === undefined && variant.inputs === undefined
      ? undefined
      : { ...evaluation.inputs, ...variant.inputs }
  if (inputs === undefined && dag === undefined) {
    const detail = `Cannot use variant "${variant.name}" of ${file.path}: which columns are inputs of "${variant.deployed ?? evaluation.deployed}" only the place knows. Add \`inputs\`, as { ticket: "{{item.ticket}}" }.`
    throw new Refused({ code: 'bad_eval', detail }, { exitCode: 2 })
  }
  return {
    name: variant.name,
    sha256: sha256(canonicalJson({ identity, inputs: inputs ?? null })),
    bodyFor: (item) => ({ ...body, ...runValues(item, inputs, dag, variant.name) }),
  }
}

/** Values of declared inputs, of their types; whatever else is given is free context. */
function runValues(item: Item, inputs: Evaluation['inputs'], dag: Dag | undefined, variant: string) {
  const declared = dag === undefined ? undefined : Object.entries(dag.inputs).filter(([, input]) => input.declared)
  const types = declared && new Map(declared)
  const given =
    inputs === undefined
      ? Object.entries(item.values).filter(([key]) => types?.has(key))
      : Object.entries(inputs).map(
          ([key, value]) => [key, fillItem(value, item, `input "${key}" of variant "${variant}"`)] as const,
        )
  const typed = given.map(([key, value]) => {
    const type = types?.get(key)?.type
    if (typeof value !== 'string' || type === undefined) return [key, value] as const
    return [key, typedValue(`item "${item.id}":`, key, value, type)] as const
  })
  const isInput = ([key]: readonly [string, Json]) => types === undefined || types.has(key)
  const context = typed.filter((entry) => !isInput(entry))
  return {
    inputs: Object.fromEntries(typed.filter(isInput)),
    ...(context.length > 0 && { context: Object.fromEntries(context) }),
  }
}

function documentOf(file: EvalFile, variant: Variant): VariantDocument {
  const { evaluation } = file
  const own = variant.document ?? variant.example ?? variant.deployed
  const { document, example, deployed } = own === undefined ? evaluation : variant
  const changes = { set: variant.set ?? {}, gates: evaluation.gates }
  const isChanged = Object.keys(changes.set).length + changes.gates.length > 0
  if (deployed !== undefined) {
    if (!isChanged) return { body: { name: deployed }, dag: undefined, identity: { deployed } }
    const detail = `Cannot change "${deployed}" in variant "${variant.name}" of ${file.path}: \`set\` and \`gates\` need the text of a document. Name its file with \`document\`.`
    throw new Refused({ code: 'bad_eval', detail }, { exitCode: 2 })
  }
  const path = example === undefined ? join(dirname(file.path), document ?? '') : examplePath(example, file)
  const text = readFile(path, `document of variant "${variant.name}"`)
  const name = basename(path)
    .replace(/\.(ya?ml|json)$/i, '')
    .replace(/[^A-Za-z0-9._-]+/g, '-')
  if (!isChanged) {
    const body = example === undefined ? { dag: text, name } : { example }
    return { body, dag: parsed(text, name, { path, variant }), identity: { text } }
  }
  const dag = changedDocument(text, { path, variant: variant.name }, changes)
  return { body: { dag, name }, dag: parsed(dag, name, { path, variant }), identity: { dag } }
}

function examplePath(example: string, { path }: EvalFile): string {
  if (exampleNames().includes(example))
    return resolve(fileURLToPath(new URL(`../../../dags/${example}.yaml`, import.meta.url)))
  const detail = `Cannot use ${path}: there is no example "${example}". There are: ${exampleNames().join(', ')}.`
  throw new Refused({ code: 'bad_eval', detail }, { exitCode: 2 })
}

function parsed(
  given: string | object,
  name: string,
  { path, variant }: { readonly path: string; readonly variant: Variant },
): Dag {
  const read = parseHere(given, { name })
  if (read.ok) return read.dag
  const detail = `Cannot use variant "${variant.name}": its document ${path} has errors${typeof given === 'string' ? '' : ' with what the evaluation changes in it'}.`
  throw new Refused({ code: 'invalid_dag', detail, errors: read.errors })
}

interface Changes {
  readonly set: NonNullable<Variant['set']>
  readonly gates: Evaluation['gates']
}

type Mapping = { [key: string]: Json }

/** The document with what a variant sets and the gates of the evaluation, which warn: they judge, and stop nothing. */
function changedDocument(
  text: string,
  { path, variant }: { readonly path: string; readonly variant: string },
  { set, gates }: Changes,
): Mapping {
  const read = readYaml(text)
  const document = read.ok ? structuredClone(read.source.value) : undefined
  const blocks = isMapping(document) && Array.isArray(document.blocks) ? document.blocks.filter(isMapping) : []
  if (!isMapping(document) || blocks.length === 0) {
    throw new Refused({
      code: 'invalid_dag',
      detail: `Cannot change ${path} in variant "${variant}": it is no document with blocks.`,
    })
  }
  const blockOf = (id: string): Mapping => {
    const found = blocks.find((one) => one.id === id)
    if (found !== undefined) return found
    const known = blocks.map((one) => String(one.id)).join(', ')
    throw new Refused(
      {
        code: 'bad_eval',
        detail: `Cannot change ${path} in variant "${variant}": it has no block "${id}". It has: ${known}.`,
      },
      { exitCode: 2 },
    )
  }
  for (const [place, value] of Object.entries(set)) {
    const [id = '', ...keys] = place.split('.')
    setAt(blockOf(id), keys, value)
  }
  for (const { block, name, check, error } of gates) {
    const at = blockOf(block)
    const before = Array.isArray(at.post_gates) ? at.post_gates : []
    at.post_gates = [...before, { name, check, on_fail: 'warn', ...(error !== undefined && { error }) }]
  }
  return document
}

function setAt(mapping: Mapping, [key = '', ...rest]: readonly string[], value: Json): void {
  if (rest.length === 0) {
    mapping[key] = value
    return
  }
  const inner = isMapping(mapping[key]) ? mapping[key] : {}
  mapping[key] = inner
  setAt(inner, rest, value)
}

function isMapping(value: Json | undefined): value is Mapping {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** A fault of what was written in the evaluation or its data, as the command line tells one. */
export function asRefused(error: unknown): unknown {
  if (!(error instanceof Fault)) return error
  return new Refused({ code: error.code, detail: error.message, errors: error.issues }, { exitCode: 2, cause: error })
}
