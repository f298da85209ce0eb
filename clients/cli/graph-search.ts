import type { Command } from 'commander'
import { GRAPH_ROUTES } from '../../shared/api/graph-routes.ts'
import type { paths } from '../api/schema.generated.ts'
import { callApi, chooseTarget, type Target } from './api.ts'
import { graphSearchLines } from './graph-search-lines.ts'
import { jsonText } from './json-text.ts'
import { cut, oneLine } from './plain-text.ts'
import { usage } from './refused.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { wholeNumber } from './whole-number.ts'

interface SearchOptions extends TargetOptions {
  readonly type?: string
  readonly domain?: string
  readonly limit?: number
  readonly ndjson?: true
}

export function addGraphSearch(graph: Command, session: Session): void {
  withTarget(graph.command('search').description('entities by words, best first'))
    .argument('[words...]', '"words in double quotes" stand together; none: the newest')
    .option('--type <type>', 'only entities of this type')
    .option('--domain <domain>', 'only entities whose id has this third segment')
    .option('--limit <n>', 'at most this many, 1 to 1000 (default: 20)', wholeNumber(1, 1_000))
    .option('--ndjson', 'lines {"id","query","limit"} on stdin, a line {"id","hits"} each')
    .action((words: readonly string[], options: SearchOptions) => graphSearch(session, words, options))
}

async function graphSearch(session: Session, words: readonly string[], options: SearchOptions): Promise<void> {
  const target = chooseTarget(session, options.url)
  const { type, domain, limit } = options
  const narrowed = { ...(type !== undefined && { type }), ...(domain !== undefined && { domain }) }
  if (options.ndjson === true) {
    if (words.length > 0) throw usage('With --ndjson the words come as lines on stdin, not as arguments.')
    await graphSearchLines(session, (query, most) =>
      searchGraph(target, { ...narrowed, q: query, limit: most ?? limit ?? 20 }),
    )
    return
  }
  const answer = await searchGraph(target, { ...narrowed, q: words.join(' '), limit: limit ?? 20 })
  if (options.json === true) return session.say(jsonText(answer, 2))
  if (answer.hits.length === 0) return session.say('Nothing found.')
  for (const line of answer.hits.flatMap((hit) => hitLines(hit, session.size().columns))) session.say(line)
}

type Answer = (typeof GRAPH_ROUTES)['search-graph']['answer']['_output']

type Query = NonNullable<paths['/api/graph/search']['get']['parameters']['query']>

function searchGraph(target: Target, query: Query): Promise<Answer> {
  return callApi(target, GRAPH_ROUTES['search-graph'].answer.loose(), (api) =>
    api.GET('/api/graph/search', { params: { query } }),
  )
}

function hitLines(
  { entity_id, label, type, relevance, snippet_text = '' }: Answer['hits'][number],
  columns: number,
): readonly string[] {
  const score = relevance === undefined ? '' : relevance.toFixed(3).padStart(8)
  const name = [oneLine(label ?? entity_id), ...(type === undefined ? [] : [`(${oneLine(type)})`])].join(' ')
  const more = snippet_text === '' ? [] : [`${' '.repeat(10)}${oneLine(snippet_text)}`]
  return [`${score}  ${name}  ${oneLine(entity_id)}`, ...more].map((line) => cut(line, columns))
}
