import { GRAPH_ROUTES } from '../../../shared/api/graph-routes.ts'
import type { ResearchAnswer, ResearchTrace } from '../../../shared/api/research-routes.ts'
import type { Entity } from '../../../shared/graph/entity.ts'
import { readableTriples } from '../../../shared/graph/rule-opaque.ts'
import { isEdge } from '../../../shared/graph/triple.ts'
import {
  checkedLines,
  comparedWords,
  isGrounded,
  type SentenceFinding,
} from '../../../shared/research/claims/check-synthesis.ts'
import { citableText, type ShownEvidence } from '../../../shared/research/claims/shown-evidence.ts'
import type { Evidence } from '../../../shared/research/payloads/evidence.ts'
import { outsideQuotations, quotationsIn } from '../../../shared/text/quotations.ts'
import { checkQuote, indexQuotes, type QuoteIndex } from '../../../shared/text/verbatim.ts'
import { callApi, openApi, type Target } from '../server/api.ts'
import { type ExitCode, Refused } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine, plainText, wrapText } from '../terminal/text.ts'
import { count, durationWords } from '../terminal/words.ts'

interface SayHow {
  readonly trace: boolean
  readonly json: boolean
}

/**
 * Prints an answer, what it cites held against the store. Exit code 1 where there is none, 4 where a sentence of it is
 * unsupported: it was asked for like that, or what it cites has changed since.
 */
export async function sayAnswer(
  session: Session,
  target: Target,
  answer: ResearchAnswer,
  { trace, json }: SayHow,
): Promise<ExitCode> {
  const checked = await checkAnswer(target, answer)
  if (json) session.say(jsonText({ ...answer, checked: checkedJson(checked) }, 2))
  else {
    const { columns } = session.size()
    for (const line of answerLines(answer, checked, columns)) session.say(line)
    for (const line of trace ? ['', ...traceLines(answer, columns)] : []) session.say(line)
  }
  if (answer.result === undefined) return 1
  return checked.sentences.every(({ grounded }) => grounded) ? 0 : 4
}

function checkedJson({ sentences, cited }: CheckedAnswer) {
  return {
    sentences,
    cited: [...cited].map(([place, { entity_id, label }]) => ({
      place,
      entity_id,
      ...(label !== undefined && { label }),
    })),
  }
}

/** An answer for people: what it says, what it cites with each sentence checked, what it took. */
function answerLines(answer: ResearchAnswer, checked: CheckedAnswer, columns: number): readonly string[] {
  const { result, reason = '', state } = answer
  if (result === undefined) return wrapText(oneLine(`There is no answer: the run ${state}. ${reason}`), columns)
  return [
    ...plainText(result.synthesis)
      .split('\n')
      .flatMap((line) => wrapText(line, columns, '  ')),
    ...answer.degraded
      .filter((why) => !result.synthesis.includes(why))
      .flatMap((why) => wrapText(`Less than it could be: ${oneLine(why)}.`, columns)),
    '',
    ...evidenceLines(answer, checked, columns),
    '',
    ...costWords(answer),
  ]
}

function evidenceLines(
  { result }: ResearchAnswer,
  { sentences, cited }: CheckedAnswer,
  columns: number,
): readonly string[] {
  const found = result?.evidence?.length ?? 0
  const none = `Evidence: ${count(found, 'item')}, none cited.`
  if (sentences.length === 0) return [none]
  return [
    cited.size === 0 ? none : `Evidence: ${count(found, 'item')}, ${cited.size} cited`,
    ...[...cited].flatMap(([place, item]) => [
      ...wrapText(
        `[${place}] ${oneLine(item.label ?? '')} (tier ${item.tier}, ${oneLine(item.source)})`,
        columns,
        '  ',
      ),
      `      ${oneLine(item.entity_id)}`,
    ]),
    '',
    ...wrapText(`Compared with what is stored: ${comparedWords(sentences)}`, columns),
    ...sentences.flatMap((one) => sentenceLines(one, columns)),
  ]
}

function sentenceLines(one: CheckedAnswer['sentences'][number], columns: number): readonly string[] {
  const told = [
    ...(one.status === 'unsupported' ? [] : [one.status]),
    ...(one.status === 'supported' && one.passage !== undefined
      ? [`by [${one.passage.place}]: “${oneLine(one.passage.text).slice(0, 200)}”`]
      : []),
    ...one.verbatim.map(({ place, start, end }) => `word for word in [${place}], bytes ${start} to ${end}`),
    ...(one.places.length === 0 ? ['cites nothing'] : []),
    ...one.unknown_refs.map((ref) => `cites ${oneLine(ref)}, which is no evidence`),
    ...one.bad_quotes.map(({ quote, verdict }) => `“${oneLine(quote)}”: ${verdict}`),
    ...one.bad_numbers.map((number) => `${oneLine(number)} does not occur there`),
    ...(one.status === 'unsupported' ? ['unsupported: no one passage of what it cites says it in these words'] : []),
  ]
  const [first = '', ...rest] = wrapText(oneLine(one.sentence), columns, '    ')
  return [
    first.replace(/^ {4}/, `  ${one.grounded ? '✓' : '✗'} `),
    ...rest,
    ...told.flatMap((why) => wrapText(why, columns, '      ')),
  ]
}

function costWords({ run_id, tokens, usd, started_at, ended_at, result }: ResearchAnswer): readonly string[] {
  const ms =
    started_at === undefined || ended_at === undefined ? undefined : Date.parse(ended_at) - Date.parse(started_at)
  const parts = [
    count(tokens, 'token'),
    usd === null ? 'no price known' : `${usd} USD`,
    count(result?.iterations ?? 0, 'refine round'),
    ...(ms === undefined ? [] : [durationWords(ms)]),
  ]
  return [`${parts.join(', ')}`, `Run ${run_id}`]
}

/** What each stage did, in order; then the sub-queries that ran. */
function traceLines({ trace, result }: ResearchAnswer, columns: number): readonly string[] {
  const queries = result?.decomp_trace?.sub_queries ?? []
  return [
    'Trace',
    ...trace.flatMap((row) => rowLines(row, columns)),
    ...(queries.length === 0 ? [] : [`  ${count(queries.length, 'sub-query').replace(/ys$/, 'ies')}`]),
    ...[...Map.groupBy(queries.map(queryWords), (words) => words)].flatMap(([words, { length }]) =>
      wrapText(length === 1 ? words : `${words} (${length} times)`, columns, '    '),
    ),
  ]
}

function rowLines(row: ResearchTrace, columns: number): readonly string[] {
  const { stage, duration_ms, tokens, retries, action, sufficient, found, rationale, degraded_reason } = row
  const facts = [
    durationWords(duration_ms),
    count(tokens, 'token'),
    ...(retries === 0 ? [] : [`asked ${retries} more`]),
    ...(found === undefined ? [] : [`${found} found`]),
    ...(action === undefined ? [] : [action]),
    ...(sufficient === undefined ? [] : [sufficient ? 'sufficient' : 'not sufficient']),
  ]
  return [
    `  ${stage.padEnd(20)}${facts.join(', ')}`,
    ...(rationale === undefined ? [] : wrapText(oneLine(rationale), columns, '    ')),
    ...(degraded_reason === undefined ? [] : wrapText(`degraded: ${oneLine(degraded_reason)}`, columns, '    ')),
  ]
}

function queryWords({ kind, ...rest }: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(rest).map(
    ([key, value]) => `${key} ${typeof value === 'string' ? value : JSON.stringify(value)}`,
  )
  return oneLine(`${String(kind)}: ${parts.join(', ')}`)
}

/** An answer held against what the server has stored, sentence by sentence. */
interface CheckedAnswer {
  readonly sentences: readonly CheckedSentence[]
  /** Items the answer cites, by their place from 1. */
  readonly cited: ReadonlyMap<number, StoredEvidence>
}

interface CheckedSentence extends SentenceFinding {
  readonly grounded: boolean
  /** Its quotations, or the whole of it without its citations, where they stand in an item it cites: bytes of its text and facts. */
  readonly verbatim: readonly { readonly place: number; readonly start: number; readonly end: number }[]
}

/** Reads what is cited, nothing else. */
async function checkAnswer(target: Target, { intent, result, degraded }: ResearchAnswer): Promise<CheckedAnswer> {
  if (result === undefined) return { sentences: [], cited: new Map() }
  const { evidence = [], synthesis } = result
  const check = (items: typeof evidence) =>
    checkedLines({ topic: intent.topic, synthesis, degraded }, items).flatMap(({ sentences }) => sentences)
  // Which items a sentence cites does not depend on what they say.
  const places = new Set(check(evidence).flatMap((finding) => finding.places))
  const stored = await Promise.all(
    evidence.map(async (item, at) => (places.has(at + 1) ? await storedEvidence(target, item) : item)),
  )
  const findings = check(stored)
  const cited = [...places]
    .toSorted((a, b) => a - b)
    .flatMap((place): [number, StoredEvidence][] => {
      const item = stored[place - 1]
      return item === undefined ? [] : [[place, item]]
    })
  const index = indexQuotes([...cited].map(([place, item]) => ({ id: `${place}`, text: citableText(item) })))
  return {
    sentences: findings.map((finding) => ({
      ...finding,
      grounded: isGrounded(finding),
      verbatim: verbatimIn(finding, index),
    })),
    cited: new Map(cited),
  }
}

function verbatimIn({ sentence, places }: SentenceFinding, index: QuoteIndex): CheckedSentence['verbatim'] {
  const quoted = quotationsIn(sentence).map(({ quote }) => quote)
  const whole = outsideQuotations(sentence)
    .replace(/ ?\[[^\]]*\]\.?/g, '')
    .trim()
  return (quoted.length > 0 ? quoted : [whole]).flatMap((quote) =>
    places.flatMap((place) => {
      const found = checkQuote(index, quote, `${place}`)
      return found?.verdict === 'found' ? [{ place, start: found.start, end: found.end }] : []
    }),
  )
}

/** An item of evidence with what the server has stored of it now. */
type StoredEvidence = Evidence & ShownEvidence

/**
 * Reads an item anew, so that what an answer quotes is checked here and not believed: the entity, its body, the names
 * its edges lead to. Of an entity that is gone the snippet is left.
 */
async function storedEvidence(target: Target, item: Evidence): Promise<StoredEvidence> {
  const entity = await unlessGone(readEntity(target, item.entity_id))
  if (entity === undefined) return { ...item, text: item.snippet_text }
  const body =
    entity.objectstore_ref === undefined ? undefined : await unlessGone(readBody(target, entity.objectstore_ref))
  const names = await readNames(target, entity)
  const facts = readableTriples(entity.triples ?? []).map((triple) => {
    const object = String(triple.object)
    if (!isEdge(triple)) return { predicate: triple.predicate, object }
    return { predicate: triple.predicate, object: names.get(object) ?? object, object_id: object }
  })
  return { ...item, label: entity.label, text: body ?? entity.snippet ?? item.snippet_text, facts }
}

async function readEntity(target: Target, id: string): Promise<Entity> {
  const params = { path: { entity_id: id } }
  const answer = GRAPH_ROUTES['get-entity'].answer.loose()
  return (await callApi(target, answer, (api) => api.GET('/api/graph/entities/{entity_id}', { params }))).entity
}

async function readBody(target: Target, ref: string): Promise<string> {
  const response = await openApi(target, (api) =>
    api.GET('/api/objects/{sha256}', { params: { path: { sha256: ref.split('/').at(-1) ?? '' } } }),
  )
  return await response.text()
}

/** Labels of what it leads to. */
async function readNames(target: Target, { entity_id, triples = [] }: Entity): Promise<ReadonlyMap<string, string>> {
  if (!triples.some(isEdge)) return new Map()
  const params = { path: { entity_id }, query: { direction: 'out', limit: 1_000 } } as const
  const { entities } = await callApi(target, GRAPH_ROUTES['get-neighbors'].answer.loose(), (api) =>
    api.GET('/api/graph/entities/{entity_id}/neighbors', { params }),
  )
  return new Map(entities.flatMap(({ entity_id: id, label }) => (label === undefined ? [] : [[id, label] as const])))
}

async function unlessGone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof Refused && error.status === 404) return undefined
    throw error
  }
}
