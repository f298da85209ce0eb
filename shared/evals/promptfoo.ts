import { isReservedKey } from '../limits.ts'
import { readRows } from '../table/read-rows.ts'
import type { Json } from '../text/json.ts'
import { lineFinder, locate, type Path, pathText, type Source } from '../text/source-position.ts'
import { describeValue, quoted } from '../text/wording.ts'
import {
  type Asserted,
  BLOCK,
  isMapping,
  leftOver,
  listOf,
  type Mapping,
  miss,
  missed,
  PORT,
  providerNamed,
  type ReadBeside,
  type Reading,
  readAssert,
  readRubric,
  renamed,
  templateProblem,
  uniqueNames,
  unusedName,
} from './promptfoo-asserts.ts'

/** Something of a configuration that has no counterpart here, at its place. */
export interface NotMapped {
  readonly path: string
  readonly line?: number
  readonly column?: number
  readonly what: string
}

interface Imported {
  /** A document with one block, `answer`. */
  readonly document: object
  readonly evaluation: object
  /** Providers of sluice.yaml that the variants name. */
  readonly providers: readonly string[]
  readonly items: number
  readonly variants: number
  readonly not_mapped: readonly NotMapped[]
}

/**
 * A configuration of promptfoo as a document and an evaluation of it: prompts times providers become variants, tests become
 * items, asserts become what is expected. Whatever has no counterpart, or one that would judge otherwise, is named.
 */
export function importPromptfoo(source: Source, name: string, read: ReadBeside): Imported {
  const reading: Reading = { source, read, missed: [] }
  const config = isMapping(source.value) ? source.value : {}
  const defaults = readDefaults(reading, config)
  const tests = readTests(reading, config, new Set(defaults.expect.map((one) => one.name)))
  const prompts = readPrompts(reading, config)
  const providers = readProviders(reading, config)
  leftOver(reading, [], config, TOP_KEYS, 'has no counterpart here')
  const variants = variantsOf(prompts, providers)
  const items = tests.flatMap((test) => itemsOf(test, defaults.vars))
  const inputs = inputsOf(items)
  const concurrency = concurrencyOf(reading, config)
  const description = typeof config.description === 'string' ? config.description : undefined
  const [first] = variants
  return {
    document: {
      name,
      ...(description !== undefined && { description }),
      inputs,
      blocks: [{ id: BLOCK, inputs: portsOf(inputs), outputs: { [PORT]: 'string' }, agent: first?.agent ?? NO_AGENT }],
    },
    evaluation: {
      ...(description !== undefined && { description }),
      data: { items: items.map(({ values, expect }) => ({ values, ...(expect.length > 0 && { expect }) })) },
      document: `../dags/${name}.yaml`,
      variants: variants.map(({ name: variant, agent }) => ({ name: variant, set: settings(agent) })),
      ...(defaults.gates.length > 0 && { gates: defaults.gates }),
      ...(defaults.expect.length > 0 && { expect: defaults.expect }),
      ...(concurrency !== undefined && { concurrency }),
    },
    providers: [...new Set(providers.map(({ provider }) => provider))],
    items: items.length,
    variants: variants.length,
    not_mapped: placedMisses(reading),
  }
}

const NO_AGENT = { provider: 'local', model: 'outline', prompt: 'Nothing of the configuration could be taken over.' }

const TOP_KEYS = [
  'description',
  'prompts',
  'providers',
  'targets',
  'tests',
  'defaultTest',
  'evaluateOptions',
  '$schema',
]

function placedMisses({ source, missed }: Reading): readonly NotMapped[] {
  const place = source.text === undefined ? undefined : lineFinder(source.text)
  return missed
    .map(({ path, what }) => ({ at: locate(source.spot, path, 'key'), path: pathText(path), what }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ at, path, what }) => ({ path, ...place?.(at), what }))
}

interface Agent {
  readonly provider: string
  readonly model: string
  readonly prompt: string
  readonly system?: string
  readonly model_params?: Mapping
}

interface NamedPrompt {
  readonly label: string
  readonly prompt: string
  readonly system?: string
}

interface NamedProvider {
  readonly label: string
  readonly provider: string
  readonly model: string
  readonly model_params?: Mapping
}

function variantsOf(prompts: readonly NamedPrompt[], providers: readonly NamedProvider[]) {
  const names = new Set<string>()
  return prompts.flatMap(({ label, prompt, system }) =>
    providers.map(({ label: by, provider, model, model_params }) => {
      const agent: Agent = {
        provider,
        model,
        ...(system !== undefined && { system }),
        prompt,
        ...(model_params && { model_params }),
      }
      return { name: unusedName(prompts.length === 1 ? by : `${label}.${by}`, names), agent }
    }),
  )
}

function settings(agent: Agent): Mapping {
  return Object.fromEntries(Object.entries(agent).map(([key, value]) => [`${BLOCK}.agent.${key}`, value]))
}

function readPrompts(reading: Reading, { prompts }: Mapping): readonly NamedPrompt[] {
  return listOf(prompts).flatMap((given, at): readonly NamedPrompt[] => {
    const path: Path = Array.isArray(prompts) ? ['prompts', at] : ['prompts']
    const label = isMapping(given) && typeof given.label === 'string' ? given.label : `prompt-${at + 1}`
    const text = isMapping(given) ? (given.raw ?? given.id) : given
    if (isMapping(given)) leftOver(reading, path, given, ['raw', 'id', 'label'], 'of a prompt has no counterpart here')
    if (typeof text !== 'string') return missed(reading, path, 'a prompt that is no text is not taken over')
    return promptTexts(reading, path, text).flatMap((one, part) => {
      const read = promptOf(reading, path, one)
      return read === undefined ? [] : [{ label: part === 0 ? label : `${label}-${part + 1}`, ...read }]
    })
  })
}

/** The prompt itself, or what its file holds: several, where lines `---` stand between them. */
function promptTexts(reading: Reading, path: Path, given: string): readonly string[] {
  const [, file] = /^(?:file:\/\/)?([^\n{}]+\.(?:txt|md|json|ya?ml|csv|js|cjs|mjs|ts|py|j2))$/.exec(given.trim()) ?? []
  if (file === undefined)
    return given.startsWith('file://')
      ? missed(reading, path, `${quoted(given)} is no kind of file that is read`)
      : [given]
  if (!/\.(txt|md|json)$/.test(file))
    return missed(reading, path, `${quoted(file)}: prompts made by programs or listed in tables are not taken over`)
  const text = reading.read(file)
  if (text === undefined) return missed(reading, path, `${quoted(file)} cannot be read`)
  return file.endsWith('.json') ? [text] : text.split(/^---$/m).map((one) => one.trim())
}

/** A text, or a conversation of a system text and one of the user. */
function promptOf(reading: Reading, path: Path, text: string): Pick<NamedPrompt, 'prompt' | 'system'> | undefined {
  const messages = text.trimStart().startsWith('[') ? messagesOf(text) : undefined
  if (messages === 'other') {
    miss(reading, path, 'a conversation of more than a system text and one message of the user is not taken over')
    return undefined
  }
  const { system, prompt } = messages ?? { system: undefined, prompt: text }
  const problem =
    templateProblem(prompt) ?? (system?.includes('{{') === true ? 'a system text with placeholders' : undefined)
  if (problem !== undefined) {
    miss(reading, path, `${problem} is not taken over, and neither is its prompt`)
    return undefined
  }
  return { prompt: renamed(prompt, 'inputs'), ...(system !== undefined && { system }) }
}

function messagesOf(
  text: string,
): { readonly system: string | undefined; readonly prompt: string } | 'other' | undefined {
  let read: unknown
  try {
    read = JSON.parse(text)
  } catch {
    return undefined
  }
  if (!Array.isArray(read)) return undefined
  const said = read.map(
    (one: { readonly role?: unknown; readonly content?: unknown }) => [one?.role, one?.content] as const,
  )
  const [[firstRole, first] = [], [secondRole, second] = []] = said
  if (said.length === 1 && firstRole === 'user' && typeof first === 'string')
    return { system: undefined, prompt: first }
  const both = said.length === 2 && firstRole === 'system' && secondRole === 'user'
  return both && typeof first === 'string' && typeof second === 'string' ? { system: first, prompt: second } : 'other'
}

const MODEL_PARAMS = [
  'temperature',
  'max_tokens',
  'top_p',
  'top_k',
  'seed',
  'stop',
  'presence_penalty',
  'frequency_penalty',
]

function readProviders(reading: Reading, { providers, targets }: Mapping): readonly NamedProvider[] {
  const key = providers === undefined ? 'targets' : 'providers'
  const given = providers ?? targets
  return listOf(given).flatMap((one, at) => readProvider(reading, Array.isArray(given) ? [key, at] : [key], one))
}

const PARAM_WHY = 'of a provider is not taken over: write it into model_params if its provider knows it'

function readProvider(reading: Reading, path: Path, given: Json): readonly NamedProvider[] {
  const one: Mapping = isMapping(given) ? given : { id: given }
  const named = typeof one.id === 'string' ? providerNamed(one.id) : undefined
  if (named === undefined) return missed(reading, path, `provider ${describeValue(one.id)} has no counterpart here`)
  leftOver(reading, path, one, ['id', 'label', 'config'], 'of a provider has no counterpart here')
  const config = isMapping(one.config) ? one.config : {}
  if (one.config !== undefined && !isMapping(one.config)) miss(reading, [...path, 'config'], `"config" ${PARAM_WHY}`)
  leftOver(reading, [...path, 'config'], config, MODEL_PARAMS, PARAM_WHY)
  const model_params = Object.fromEntries(Object.entries(config).filter(([param]) => MODEL_PARAMS.includes(param)))
  const label = typeof one.label === 'string' ? one.label : named.model
  return [{ label, ...named, ...(Object.keys(model_params).length > 0 && { model_params }) }]
}

interface Test {
  readonly vars: Mapping
  readonly expect: readonly Asserted[]
}

interface Defaults extends Test {
  /** Judged by models, in the run. */
  readonly gates: readonly Asserted[]
}

const TEST_WHY = 'of a test has no counterpart here'

function readDefaults(reading: Reading, { defaultTest }: Mapping): Defaults {
  if (defaultTest === undefined) return { vars: {}, expect: [], gates: [] }
  if (!isMapping(defaultTest)) {
    miss(reading, ['defaultTest'], 'default tests in a file are not taken over')
    return { vars: {}, expect: [], gates: [] }
  }
  leftOver(reading, ['defaultTest'], defaultTest, ['vars', 'assert', 'options'], TEST_WHY)
  const options = isMapping(defaultTest.options) ? defaultTest.options : {}
  leftOver(reading, ['defaultTest', 'options'], options, ['provider'], 'of a test has no counterpart here')
  const asserts = listOf(defaultTest.assert).map((one, at) => ({ one, path: ['defaultTest', 'assert', at] as Path }))
  const isRubric = ({ one }: { readonly one: Json }) => isMapping(one) && one.type === 'llm-rubric'
  return {
    vars: varsOf(reading, ['defaultTest', 'vars'], defaultTest.vars),
    expect: uniqueNames(
      asserts.filter((one) => !isRubric(one)).flatMap(({ one, path }) => readAssert(reading, path, one)),
    ),
    gates: uniqueNames(
      asserts.filter(isRubric).flatMap(({ one, path }) => readRubric(reading, path, one, options.provider)),
    ),
  }
}

function readTests(reading: Reading, { tests }: Mapping, taken: ReadonlySet<string>): readonly Test[] {
  return listOf(tests).flatMap((one, at): readonly Test[] => {
    const path: Path = Array.isArray(tests) ? ['tests', at] : ['tests']
    if (typeof one === 'string') return tableTests(reading, path, one, taken)
    if (!isMapping(one)) return missed(reading, path, 'a test that is no mapping is not taken over')
    leftOver(reading, path, one, ['vars', 'assert', 'description'], TEST_WHY)
    const vars = varsOf(reading, [...path, 'vars'], one.vars)
    const expect = listOf(one.assert).flatMap((assert, index) =>
      readAssert(reading, [...path, 'assert', index], assert),
    )
    return [{ vars, expect: uniqueNames(expect, taken) }]
  })
}

function varsOf(reading: Reading, path: Path, given: Json | undefined): Mapping {
  if (given === undefined || isMapping(given)) return given ?? {}
  miss(reading, path, 'variables in a file are not taken over')
  return {}
}

/** A table of tests: a column a variable, `__expected` with what is asserted. */
function tableTests(reading: Reading, path: Path, given: string, taken: ReadonlySet<string>): readonly Test[] {
  const file = given.replace(/^file:\/\//, '')
  const text = /\.(csv|tsv|jsonl|ndjson|json)$/.test(file) ? reading.read(file) : undefined
  if (text === undefined)
    return missed(
      reading,
      path,
      `tests of ${quoted(given)} are not taken over: it is no table beside the configuration`,
    )
  const table = readRows(text, {})
  if ('problem' in table) return missed(reading, path, `${quoted(file)}: ${table.problem}`)
  const others = table.columns.filter((column) => column.startsWith('__') && !/^__expected\d*$/.test(column))
  for (const column of others)
    miss(reading, path, `column ${quoted(column)} of ${quoted(file)} has no counterpart here`)
  return table.rows.map((row, at) => ({
    vars: Object.fromEntries(Object.entries(row).filter(([column]) => !column.startsWith('__'))),
    expect: uniqueNames(
      Object.entries(row).flatMap(([column, value]) =>
        /^__expected\d*$/.test(column) && typeof value === 'string' && value !== ''
          ? readAssert(reading, path, shorthand(value), ` (row ${at + 1})`)
          : [],
      ),
      taken,
    ),
  }))
}

/** `contains: words`, `icontains-any: a, b`; anything else is what the answer is to equal. */
function shorthand(text: string): Mapping {
  const [, type, threshold, value = ''] = /^([a-z][a-z-]*)(?:\(([\d.]+)\))?(?::\s?([\s\S]*))?$/.exec(text) ?? []
  if (type === undefined || !(text.includes(':') || /^(?:not-)?is-/.test(type))) return { type: 'equals', value: text }
  return { type, value, ...(threshold !== undefined && { threshold: Number(threshold) }) }
}

/** A variable with a list of values is a test for each of them. */
function itemsOf(
  { vars, expect }: Test,
  defaults: Mapping,
): readonly { readonly values: Mapping; readonly expect: readonly Asserted[] }[] {
  let values: readonly Mapping[] = [{}]
  for (const [key, value] of Object.entries({ ...defaults, ...vars })) {
    if (isReservedKey(key)) continue
    const each = Array.isArray(value) && value.length > 0 ? listOf(value) : [value]
    values = values.flatMap((before) => each.map((one) => ({ ...before, [key]: one })))
  }
  return values.map((one) => ({ values: one, expect }))
}

/** Every variable of any item; an item that lacks one has an empty text there. */
function inputsOf(items: readonly { readonly values: Mapping }[]): Mapping {
  const names = [...new Set(items.flatMap(({ values }) => Object.keys(values)))]
  return Object.fromEntries(
    names.map((name) => {
      const isText = items.every(({ values }) => values[name] === undefined || typeof values[name] === 'string')
      return [name, { type: isText ? 'string' : 'json', default: '' }]
    }),
  )
}

function portsOf(inputs: Mapping): Mapping {
  return Object.fromEntries(
    Object.entries(inputs).map(([name, input]) => [name, isMapping(input) ? (input.type ?? 'json') : 'json']),
  )
}

function concurrencyOf(reading: Reading, { evaluateOptions }: Mapping): number | undefined {
  if (evaluateOptions === undefined) return undefined
  if (!isMapping(evaluateOptions)) {
    miss(reading, ['evaluateOptions'], 'options that are no mapping are not taken over')
    return undefined
  }
  leftOver(reading, ['evaluateOptions'], evaluateOptions, ['maxConcurrency'], 'has no counterpart here')
  const { maxConcurrency } = evaluateOptions
  return typeof maxConcurrency === 'number' ? Math.min(Math.max(1, Math.round(maxConcurrency)), 100) : undefined
}
