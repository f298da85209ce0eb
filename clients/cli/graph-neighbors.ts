import { type Command, Option } from 'commander'
import { GRAPH_ROUTES } from '../../shared/api/graph-routes.ts'
import { callApi, chooseTarget } from './api.ts'
import { jsonText } from './json-text.ts'
import { cut, oneLine } from './plain-text.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'
import { wholeNumber } from './whole-number.ts'

interface NeighborsOptions extends TargetOptions {
  readonly direction?: 'in' | 'out' | 'both'
  readonly depth?: number
  readonly predicate?: readonly string[]
  readonly limit?: number
}

export function addGraphNeighbors(graph: Command, session: Session): void {
  withTarget(graph.command('neighbors').description('what an entity states of others, and others of it'))
    .argument('<entity-id>')
    .addOption(
      new Option('--direction <way>', 'what it states, or what is stated of it').choices(['in', 'out', 'both']),
    )
    .option('--depth <n>', 'hops, 1 to 3 (default: 1)', wholeNumber(1, 3))
    .option('--predicate <name>', 'only edges of this; repeat it', (name, names: string[] = []) => [...names, name])
    .option('--limit <n>', 'edges at most, 1 to 1000 (default: 100)', wholeNumber(1, 1_000))
    .action((id: string, options: NeighborsOptions) => neighbors(session, id, options))
}

async function neighbors(session: Session, id: string, options: NeighborsOptions): Promise<void> {
  const { url, json, direction, depth, limit, predicate } = options
  const query = {
    ...(direction !== undefined && { direction }),
    ...(depth !== undefined && { depth }),
    ...(limit !== undefined && { limit }),
    ...(predicate !== undefined && { predicate: [...predicate] }),
  }
  const params = { path: { entity_id: id }, query }
  const answer = await callApi(chooseTarget(session, url), GRAPH_ROUTES['get-neighbors'].answer.loose(), (api) =>
    api.GET('/api/graph/entities/{entity_id}/neighbors', { params }),
  )
  if (json === true) return session.say(jsonText(answer, 2))
  const labels = new Map(answer.entities.map(({ entity_id, label }) => [entity_id, label]))
  const named = (one: string) => oneLine(labels.get(one) ?? one)
  if (answer.edges.length === 0) return session.say('No edges.')
  for (const { subject, predicate: says, object, depth } of answer.edges) {
    const line = `${depth}  ${named(subject)}  ${oneLine(says)}  ${named(object)}`
    session.say(cut(line, session.size().columns))
  }
  if (answer.truncated) session.say('There is more: raise --limit, or name a --predicate or a --direction.')
}
