import { useEffect, useRef } from 'preact/hooks'
import { readableTriples } from '../../../shared/graph/opaque-triples.ts'
import { factText, groupFacts } from '../../../shared/research/claims/shown-evidence.ts'
import type { operations } from '../../api/schema.generated.ts'
import { answerOf, api } from '../api.ts'
import { Empty, ProblemNotice } from '../parts/notice.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { namedObject } from '../parts/value-text.ts'
import { ObjectLink, TextValue } from '../parts/value-view.tsx'
import { hrefOf, route } from '../route.ts'

type Entity = operations['get-entity']['responses'][200]['content']['application/json']['entity']
type Near = operations['get-neighbors']['responses'][200]['content']['application/json']

/** One thing: its names, what it states, its text, and what is beside it. */
export function ThingCard({ entityId }: { readonly entityId: string }) {
  const params = { path: { entity_id: entityId } }
  const { value, problem, reload } = useAnswer(`entity ${entityId}`, async () => {
    const query = { direction: 'both', limit: MOST_NEAR } as const
    const [{ entity }, near] = await Promise.all([
      answerOf(api.GET('/api/graph/entities/{entity_id}', { params })),
      answerOf(api.GET('/api/graph/entities/{entity_id}/neighbors', { params: { ...params, query } })),
    ])
    return { entity, near }
  })
  const heading = useRef<HTMLHeadingElement>(null)
  const isThere = value !== undefined
  useEffect(() => {
    if (isThere) heading.current?.focus()
  }, [isThere])
  if (problem !== undefined) return <ProblemNotice problem={problem} retry={reload} />
  if (value === undefined) return <p class="empty">Reading it.</p>
  const { entity, near } = value
  const body = namedObject(entity.objectstore_ref)
  return (
    <article class="card stack graph-thing" aria-label={entity.label ?? entity.entity_id}>
      <h2 ref={heading} tabIndex={-1}>
        {entity.label ?? entity.entity_id}
      </h2>
      {(entity.aliases ?? []).length > 0 && <p>Also called {entity.aliases?.join(', ')}</p>}
      <p class="small">
        <span class="soft">Cited as</span> <code>{entity.entity_id}</code>
      </p>
      {entity.snippet !== undefined && <TextValue text={entity.snippet} foldAt={TEXT} />}
      {body !== undefined && (
        <p class="small row">
          <span class="soft">Its text</span> <code>{body.ref.slice(0, REF_SHOWN)}…</code> <ObjectLink object={body} />
        </p>
      )}
      <Stated entity={entity} near={near} />
      <Neighbours entityId={entityId} near={near} />
      <p>
        <a href={hrefOf(['graph'], { ...route.value.query, thing: undefined })}>Close</a>
      </p>
    </article>
  )
}

/** Neighbours that are read. */
const MOST_NEAR = 100
const TEXT = { lines: 6, characters: 600 }
const REF_SHOWN = 24

/** What it states that leads to no other thing. */
function Stated({ entity, near }: { readonly entity: Entity; readonly near: Near }) {
  const edges = new Set(near.edges.map(({ predicate, object }) => `${predicate} ${object}`))
  const facts = readableTriples((entity.triples ?? []) as never).flatMap(({ predicate, object }) =>
    edges.has(`${predicate} ${object}`) ? [] : [{ predicate, object: String(object) }],
  )
  if (facts.length === 0) return null
  return (
    <section>
      <h3>States</h3>
      <ul class="graph-facts">
        {groupFacts(facts).map(({ predicate, objects }) => (
          <li key={predicate} title={predicate}>
            {factText('', predicate, objects).replace(/^, /, '')}
          </li>
        ))}
      </ul>
    </section>
  )
}

/** Edges, what it states first; what texts mention is told apart: a mention is no relation. */
function Neighbours({ entityId, near }: { readonly entityId: string; readonly near: Near }) {
  const labels = new Map(near.entities.map((one) => [one.entity_id, one]))
  const rows = near.edges.filter(({ subject, object }) => subject === entityId || object === entityId)
  return (
    <section>
      <h3>Beside it ({rows.length})</h3>
      {rows.length === 0 && <Empty>Nothing leads to it or from it.</Empty>}
      <ul class="graph-edges">
        {rows.map(({ subject, predicate, object, places }) => {
          const isOut = subject === entityId
          const other = isOut ? object : subject
          const { label = other, type } = labels.get(other) ?? {}
          return (
            <li key={`${subject} ${predicate} ${object}`}>
              <span class="soft">
                <span aria-hidden="true">{isOut ? '→' : '←'}</span>{' '}
                {places === undefined ? wordOf(predicate) : MENTION_WORDS[predicate]}
                <span class="visually-hidden">{isOut ? ', of' : ', stated by'}</span>
              </span>{' '}
              <a href={hrefOf(['graph'], { ...route.value.query, thing: other })}>{label}</a>{' '}
              <span class="soft small">{type}</span>
            </li>
          )
        })}
      </ul>
      {near.truncated && <p class="soft small">There are more; sluice graph neighbors shows them.</p>}
    </section>
  )
}

const MENTION_WORDS: Readonly<Record<string, string>> = {
  'sluice.mentions': 'is named in the text',
  'sluice.may_mention': 'may be named in the text',
}

function wordOf(predicate: string): string {
  return (predicate.split('.').at(-1) ?? predicate).replace(/[_-]+/g, ' ')
}
