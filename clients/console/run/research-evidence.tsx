import { useEffect, useRef } from 'preact/hooks'
import { answerOf, api } from '../api.ts'
import { Empty, ProblemNotice } from '../parts/notice.tsx'
import { ObjectLink } from '../parts/object-link.tsx'
import { TextValue } from '../parts/text-value.tsx'
import { namedObject } from '../parts/value-shape.ts'
import { changeQuery, route } from '../route.ts'
import { useAnswer } from '../use-answer.ts'
import type { ResearchAnswer } from './research-tab.tsx'

type Evidence = NonNullable<NonNullable<ResearchAnswer['result']>['evidence']>[number]
type Tier = '0' | '1' | '2'

/** What was found and may be cited, by its place; narrowed down by the server, as the address says. */
export function ResearchEvidence({ answer }: { readonly answer: ResearchAnswer }) {
  const { tier, source } = route.value.query
  const all = answer.result?.evidence ?? []
  return (
    <section class="card stack">
      <h3>Evidence ({all.length})</h3>
      {all.length === 0 ? (
        <Empty>Nothing was found: what the graph has on the question would stand here.</Empty>
      ) : (
        <>
          <div class="row">
            <Choice member="tier" label="Tier" chosen={tier} choices={valuesOf(all, 'tier')} />
            <Choice member="source" label="Source" chosen={source} choices={valuesOf(all, 'source')} />
          </div>
          {tier === undefined && source === undefined ? (
            <Items items={all} places={all.map((_, at) => at + 1)} />
          ) : (
            <Filtered runId={answer.run_id} tier={tier} source={source} />
          )}
        </>
      )}
    </section>
  )
}

function valuesOf(all: readonly Evidence[], member: 'tier' | 'source'): readonly string[] {
  return [...new Set(all.map((item) => item[member]))].toSorted()
}

interface ChoiceProps {
  readonly member: 'tier' | 'source'
  readonly label: string
  readonly chosen: string | undefined
  readonly choices: readonly string[]
}

function Choice({ member, label, chosen = '', choices }: ChoiceProps) {
  return (
    <label>
      {label}
      <select
        value={chosen}
        onChange={({ currentTarget: { value } }) =>
          changeQuery({ [member]: value === '' ? undefined : value, evidence: undefined })
        }
      >
        <option value="">every {member}</option>
        {choices.map((choice) => (
          <option key={choice} value={choice}>
            {choice}
            {member === 'tier' && ` (${TIERS[choice] ?? 'unknown'})`}
          </option>
        ))}
      </select>
    </label>
  )
}

const TIERS: Readonly<Record<string, string>> = { '0': 'structure of the graph', '1': 'words', '2': 'neural' }

interface FilteredProps {
  readonly runId: string
  readonly tier: string | undefined
  readonly source: string | undefined
}

function Filtered({ runId, tier, source }: FilteredProps) {
  // A tier nobody has is refused by the server, in words.
  const query = { ...(tier !== undefined && { tier: tier as Tier }), ...(source !== undefined && { source }) }
  const { value, problem } = useAnswer(`evidence ${runId} ${tier} ${source}`, () =>
    answerOf(api.GET('/api/research/{run_id}', { params: { path: { run_id: runId }, query } })),
  )
  if (problem !== undefined) return <ProblemNotice problem={problem} />
  if (value === undefined || !('trace' in value)) return <p>Loading</p>
  const items = value.result?.evidence ?? []
  if (items.length === 0) return <Empty>No evidence is of this tier and source.</Empty>
  return <Items items={items} places={value.places ?? []} />
}

function Items({ items, places }: { readonly items: readonly Evidence[]; readonly places: readonly number[] }) {
  const marked = Number(route.value.query.evidence)
  return (
    <ol class="evidence-list">
      {items.map((item, at) => (
        <Item key={places[at]} item={item} place={places[at] ?? at + 1} isMarked={places[at] === marked} />
      ))}
    </ol>
  )
}

interface ItemProps {
  readonly item: Evidence
  readonly place: number
  readonly isMarked: boolean
}

function Item({ item, place, isMarked }: ItemProps) {
  const element = useRef<HTMLLIElement>(null)
  useEffect(() => {
    if (!isMarked) return
    element.current?.scrollIntoView({ block: 'center' })
    element.current?.focus({ preventScroll: true })
  }, [isMarked])
  const body = namedObject(item.objectstore_ref)
  return (
    <li ref={element} tabIndex={-1} class="evidence" aria-current={isMarked ? 'true' : undefined}>
      <span class="evidence-place numbers">[{place}]</span>
      <div>
        <p class="row small">
          <code>{item.entity_id}</code>
          <span class="soft">
            tier {item.tier}, {item.source}
            {item.score !== undefined && `, score ${Number(item.score.toPrecision(3))}`}
          </span>
          {body !== undefined && <ObjectLink object={body} />}
        </p>
        {item.snippet_text !== undefined && <TextValue text={item.snippet_text} foldAt={SNIPPET} />}
      </div>
    </li>
  )
}

const SNIPPET = { lines: 4, characters: 420 }
