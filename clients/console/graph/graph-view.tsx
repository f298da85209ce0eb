import './graph.css'
import { useEffect, useRef } from 'preact/hooks'
import type { operations } from '../../api/schema.generated.ts'
import { answerOf, api } from '../api.ts'
import { useKeys } from '../parts/keyboard-shortcuts.tsx'
import { Empty, ProblemNotice } from '../parts/notice.tsx'
import { useAnswer } from '../parts/use-answer.ts'
import { TextValue } from '../parts/value-view.tsx'
import { changeQuery, hrefOf, route } from '../route.ts'
import { ThingCard } from './thing-card.tsx'

type Found = operations['search-graph']['responses'][200]['content']['application/json']

/** The knowledge graph: what a question's words find first, and what is known of each thing. */
export function GraphView() {
  const { q = '', type, thing } = route.value.query
  const search = useRef<HTMLInputElement>(null)
  // An address that was gone back to says what was searched; the field keeps the focus.
  useEffect(() => {
    if (search.current !== null) search.current.value = q
  }, [q])
  useKeys({ key: '/', label: 'Search the graph', run: () => search.current?.select() })
  return (
    <section class="page stack">
      <h1>Knowledge</h1>
      <search>
        <form
          class="row graph-search"
          onSubmit={(event) => {
            event.preventDefault()
            changeQuery({ q: search.current?.value.trim() || undefined, type: undefined, thing: undefined }, false)
          }}
        >
          <label>
            Names and words
            <input ref={search} type="search" defaultValue={q} maxLength={4_000} autocomplete="off" />
          </label>
          <button type="submit">Search</button>
        </form>
      </search>
      <div class="graph-columns">
        <Hits q={q} type={type} thing={thing} />
        {thing !== undefined && <ThingCard key={thing} entityId={thing} />}
      </div>
    </section>
  )
}

interface HitsProps {
  readonly q: string
  readonly type: string | undefined
  readonly thing: string | undefined
}

/** What was found, best first; without words the newest. */
function Hits({ q, type, thing }: HitsProps) {
  const { value, problem, reload } = useAnswer(`graph ${q}`, () => find(q))
  const ofType = useAnswer(`graph ${q} of ${type}`, () => (type === undefined ? find(q) : find(q, type)))
  if (problem !== undefined) return <ProblemNotice problem={problem} retry={reload} />
  if (value === undefined) return <p class="empty">Searching the graph.</p>
  const shown = type === undefined ? value : ofType.value
  return (
    <section class="stack graph-hits" aria-label="What was found">
      <DidYouMean words={value.did_you_mean ?? []} q={q} />
      <p role="status" class="small">
        {countWords(shown, q, type)}
      </p>
      <Kinds hits={value.hits} chosen={type} />
      {ofType.problem !== undefined && <ProblemNotice problem={ofType.problem} />}
      {shown?.hits.length === 0 && (
        <Empty>
          {q === ''
            ? 'Nothing is in the graph: sluice graph import puts things into it.'
            : 'Nothing has these words. A name may be spelt otherwise, or be an alias that nobody put.'}
        </Empty>
      )}
      <ol class="graph-list">
        {shown?.hits.map((hit) => (
          <li key={hit.entity_id} class="card">
            <p class="row">
              <a
                href={hrefOf(['graph'], { ...route.value.query, thing: hit.entity_id })}
                aria-current={hit.entity_id === thing ? 'true' : undefined}
              >
                {hit.label ?? hit.entity_id}
              </a>
              <span class="soft small">{hit.type}</span>
              <span class="soft small" title="the way it was found">
                {hit.source}
              </span>
            </p>
            <Preview hit={hit} />
          </li>
        ))}
      </ol>
    </section>
  )
}

/** Of a thing without a text the index shows its type and what it states: the type stands above already. */
function Preview({ hit: { snippet_text = '', type = '' } }: { readonly hit: Found['hits'][number] }) {
  const text = snippet_text === type ? '' : snippet_text.replace(`${type}; `, '')
  return text === '' ? null : <TextValue text={text} foldAt={PREVIEW} />
}

const PREVIEW = { lines: 3, characters: 280 }
/** Hits of one search. */
const MOST = 50

async function find(q: string, type?: string): Promise<Found> {
  const query = { q, limit: MOST, ...(type !== undefined && { type }) }
  return await answerOf(api.GET('/api/graph/search', { params: { query } }))
}

function countWords(found: Found | undefined, q: string, type: string | undefined): string {
  if (found === undefined) return 'Searching the graph.'
  const { length } = found.hits
  const count = length === MOST ? `The first ${MOST} things` : length === 1 ? '1 thing' : `${length} things`
  const of = type === undefined ? '' : ` of type ${type}`
  return q === '' ? `${count}${of}, the newest first.` : `${count}${of}, best first.`
}

/** Words that nothing has: what was looked for instead is said, and of several names each can be chosen. */
function DidYouMean({ words, q }: { readonly words: NonNullable<Found['did_you_mean']>; readonly q: string }) {
  return (
    <>
      {words.map(({ written, meant }) => (
        <p key={written} class="notice tone-warn">
          Did you mean{' '}
          {meant.map((word, at) => (
            <span key={word}>
              {at > 0 && ' or '}
              <a href={hrefOf(['graph'], { q: q.replace(written, word) })}>{word}</a>
            </span>
          ))}
          ? Nothing has the word “{written}”{meant.length === 1 ? `, so “${meant[0]}” was looked for.` : '.'}
        </p>
      ))}
    </>
  )
}

/** The types of what was found; one of them narrows it down. */
function Kinds({ hits, chosen }: { readonly hits: Found['hits']; readonly chosen: string | undefined }) {
  const counts = [...Map.groupBy(hits, ({ type = '' }) => type)].filter(([type]) => type !== '')
  if (counts.length < 2 && chosen === undefined) return null
  return (
    <fieldset class="row graph-kinds">
      <legend class="visually-hidden">Type</legend>
      {counts.map(([type, of]) => (
        <button
          key={type}
          type="button"
          aria-pressed={type === chosen}
          onClick={() => changeQuery({ type: type === chosen ? undefined : type })}
        >
          {type} <span class="soft small">{of.length}</span>
        </button>
      ))}
    </fieldset>
  )
}
