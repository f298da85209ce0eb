import type { Command } from 'commander'
import { GRAPH_ROUTES } from '../../shared/api/graph-routes.ts'
import { typeOf } from '../../shared/graph/edge.ts'
import type { Entity } from '../../shared/graph/entity.ts'
import { callApi, chooseTarget } from './api.ts'
import { jsonText } from './json-text.ts'
import { oneLine, plainText } from './plain-text.ts'
import type { Session } from './session.ts'
import { type TargetOptions, withTarget } from './target-options.ts'

export function addGraphShow(graph: Command, session: Session): void {
  withTarget(graph.command('show').description('one entity with all it states'))
    .argument('<entity-id>')
    .action((id: string, options: TargetOptions) => show(session, id, options))
}

async function show(session: Session, id: string, { url, json }: TargetOptions): Promise<void> {
  const { entity } = await callApi(chooseTarget(session, url), GRAPH_ROUTES['get-entity'].answer.loose(), (api) =>
    api.GET('/api/graph/entities/{entity_id}', { params: { path: { entity_id: id } } }),
  )
  if (json === true) session.say(jsonText(entity, 2))
  else for (const line of entityLines(entity)) session.say(line)
}

function entityLines(entity: Entity): readonly string[] {
  const { entity_id, label, aliases = [], snippet, objectstore_ref, time, geo, triples = [] } = entity
  return [
    `${oneLine(label ?? entity_id)} (${oneLine(typeOf(entity))})  ${entity_id}`,
    ...(aliases.length === 0 ? [] : [`also: ${aliases.map(oneLine).join(', ')}`]),
    ...(geo === undefined ? [] : [`at: ${geo.lat}, ${geo.lon}`]),
    ...(time === undefined ? [] : [`time: ${time}`]),
    ...(objectstore_ref === undefined ? [] : [`body: ${objectstore_ref}`]),
    ...(snippet === undefined ? [] : [plainText(snippet)]),
    ...triples.map(
      ({ predicate, object, source }) => `  ${predicate}  ${oneLine(String(object))}  (${oneLine(source)})`,
    ),
  ]
}
