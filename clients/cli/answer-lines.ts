import type { ResearchAnswer } from '../../shared/api/research-routes.ts'
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
    ...answer.degraded.flatMap((why) => wrapText(`Less than it could be: ${oneLine(why)}.`, columns)),
    '',
    ...evidenceLines(answer, checked, columns),
    '',
    ...wrapText(costWords(answer), columns),
  ]
}

function evidenceLines({ result }: ResearchAnswer, checked: CheckedAnswer, columns: number): readonly string[] {
  const { sentences, cited } = checked
  const found = result?.evidence?.length ?? 0
  if (cited.size === 0) return [`Evidence: ${count(found, 'item')}, none cited.`]
  const holds = sentences.filter(({ grounded }) => grounded).length
  return [
    ...wrapText(
      `Evidence: ${cited.size} of ${count(found, 'item')} cited; ${holds} of ${count(sentences.length, 'sentence')} found in what they cite, read again just now.`,
      columns,
    ),
    ...[...cited].flatMap(([place, item]) => [
      ...wrapText(
        `[${place}] ${oneLine(item.label ?? item.entity_id)}, tier ${item.tier}, ${oneLine(item.source)}`,
        columns,
        '  ',
      ),
      ...wrapText(oneLine(item.entity_id), columns, '      '),
      ...sentences.filter(({ places }) => places.includes(place)).flatMap((one) => sentenceLines(one, columns)),
    ]),
    ...sentences.filter(({ places }) => places.length === 0).flatMap((one) => sentenceLines(one, columns)),
  ]
}

function sentenceLines(one: CheckedAnswer['sentences'][number], columns: number): readonly string[] {
  const wrong = [
    ...(one.places.length === 0 ? ['cites nothing'] : []),
    ...one.unknown_refs.map((ref) => `cites ${oneLine(ref)}, which is no evidence`),
    ...one.bad_quotes.map(({ quote, verdict }) => `“${oneLine(quote)}”: ${verdict}`),
    ...one.bad_numbers.map((number) => `${oneLine(number)} does not occur there`),
  ]
  const [first = '', ...rest] = wrapText(oneLine(one.sentence), columns, '        ')
  return [
    first.replace(/^ {8}/, `      ${one.grounded ? '✓' : '✗'} `),
    ...rest,
    ...wrong.flatMap((why) => wrapText(why, columns, '        ')),
  ]
}

function costWords({ run_id, tokens, usd, started_at, ended_at, result }: ResearchAnswer): string {
  const ms =
    started_at === undefined || ended_at === undefined ? undefined : Date.parse(ended_at) - Date.parse(started_at)
  const parts = [
    count(tokens, 'token'),
    usd === null ? 'no price known' : `${usd} USD`,
    count(result?.iterations ?? 0, 'refine round'),
    ...(ms === undefined ? [] : [durationWords(ms)]),
  ]
  return `${parts.join(', ')}. Run ${run_id}`
}
