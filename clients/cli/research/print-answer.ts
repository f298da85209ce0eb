import type { ResearchAnswer, ResearchTrace } from '../../../shared/api/research-routes.ts'
import { supportCountWords } from '../../../shared/research/claims/check-synthesis.ts'
import { saysNoAnswer } from '../../../shared/research/claims/claim-lines.ts'
import type { Target } from '../server/api.ts'
import { count, durationWords } from '../terminal/format.ts'
import type { ExitCode } from '../terminal/refused.ts'
import type { Session } from '../terminal/session.ts'
import { jsonText, oneLine, plainText, wrapText } from '../terminal/text.ts'
import { type CheckedAnswer, checkAnswer } from './check-answer.ts'

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
    ...verdictLines(result),
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

/** Said before a word of it is read, where what stands below is no answer and does not say so itself. */
function verdictLines({ answers, synthesis }: NonNullable<ResearchAnswer['result']>): readonly string[] {
  if (answers === 'part') return ['An answer to a part of the question.', '']
  if (answers === 'maybe') return ['No answer: what is shown are passages that may answer the question.', '']
  return answers === 'no' && !saysNoAnswer(synthesis) ? ['No answer.', ''] : []
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
    ...wrapText(`Compared with what is stored: ${supportCountWords(sentences)}`, columns),
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
