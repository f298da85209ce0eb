import type { ResearchAnswer, ResearchTrace } from '../../shared/api/research-routes.ts'
import { oneLine } from './plain-text.ts'
import { count, durationWords } from './words.ts'
import { wrapText } from './wrap-text.ts'

/** What each stage did, in order; then the sub-queries that ran. */
export function traceLines({ trace, result }: ResearchAnswer, columns: number): readonly string[] {
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
