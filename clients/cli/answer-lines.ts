import type { ResearchAnswer } from '../../shared/api/research-routes.ts'
import { comparedWords } from '../../shared/research/check-synthesis.ts'
import type { CheckedAnswer } from './check-answer.ts'
import { oneLine, plainText } from './plain-text.ts'
import { count, durationWords } from './words.ts'
import { wrapText } from './wrap-text.ts'

/** An answer for people: what it says, what it cites with each sentence checked, what it took. */
export function answerLines(answer: ResearchAnswer, checked: CheckedAnswer, columns: number): readonly string[] {
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
