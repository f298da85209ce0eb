import type { RefObject } from 'preact'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import { type Completion, completions, type KnownValues } from '../../../shared/search-runs/edit.ts'
import type { ApiProblem } from '../api.ts'

interface BoxProps {
  /** The query that is shown. */
  readonly q: string
  readonly known: KnownValues
  /** What the place said of it. */
  readonly problem: ApiProblem | undefined
  readonly box: RefObject<HTMLInputElement | null>
  readonly onSearch: (q: string) => void
}

/** A query as it is typed: what may come next stands below, and what is wrong with it at its place. */
export function SearchBox({ q, known, problem, box, onSearch }: BoxProps) {
  const { text, set, offered, chosen, choose, close, take, keys } = useTyped(q, known, box)
  const id = useId()
  const isWrong = problem?.code === 'bad_run_search'
  return (
    <div class="search-box">
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault()
          close()
          onSearch(text.trim())
        }}
      >
        <input
          ref={box}
          type="search"
          role="combobox"
          {...NO_DATALIST}
          aria-label="Search"
          aria-expanded={offered.length > 0}
          aria-controls={`${id}-offered`}
          aria-autocomplete="list"
          aria-activedescendant={chosen < 0 ? undefined : `${id}-${chosen}`}
          aria-invalid={isWrong}
          aria-describedby={isWrong ? `${id}-problem` : undefined}
          autocomplete="off"
          spellcheck={false}
          placeholder="words, or state:failed label:team=growth cost:>0.5"
          value={text}
          onInput={({ currentTarget }) => set(currentTarget.value, currentTarget.selectionStart ?? 0)}
          onFocus={({ currentTarget }) => set(currentTarget.value, currentTarget.selectionStart ?? 0)}
          onBlur={close}
          onKeyDown={keys}
        />
        <button type="submit" class="primary">
          Search
        </button>
      </form>
      <div id={`${id}-offered`} role="listbox" aria-label="How it may go on" hidden={offered.length === 0}>
        {offered.map((one, i) => (
          <div
            key={one.insert}
            id={`${id}-${i}`}
            role="option"
            tabIndex={-1}
            aria-selected={i === chosen}
            onMouseEnter={() => choose(i)}
            // The field keeps the focus.
            onMouseDown={(event) => {
              event.preventDefault()
              take(one)
            }}
          >
            <code>{one.insert}</code> <span class="soft small">{one.words}</span>
          </div>
        ))}
      </div>
      {isWrong && <WrongPlace id={`${id}-problem`} q={q} problem={problem} />}
    </div>
  )
}

/** Its list is drawn below. */
const NO_DATALIST = { list: undefined } as const

/** The query again, its wrong place marked. */
function WrongPlace({ id, q, problem }: { readonly id: string; readonly q: string; readonly problem: ApiProblem }) {
  const { at } = problem.problem.facts ?? {}
  const place = typeof at === 'number' ? at - 1 : q.length
  const end = place + (/^\S*/.exec(q.slice(place))?.[0].length ?? 0)
  return (
    <div id={id} class="notice tone-bad" role="alert">
      <code class="wrong-query">
        {q.slice(0, place)}
        <mark>{q.slice(place, end) || '⌃'}</mark>
        {q.slice(end)}
      </code>
      <p>{problem.message}</p>
    </div>
  )
}

function useTyped(q: string, known: KnownValues, box: RefObject<HTMLInputElement | null>) {
  const [text, setText] = useState(q)
  const [offered, setOffered] = useState<readonly Completion[]>([])
  const [chosen, choose] = useState(-1)
  // Where the address changes, or the form wrote it.
  useEffect(() => setText(q), [q])
  const caret = useRef<number | undefined>(undefined)
  useEffect(() => {
    const at = caret.current
    if (at === undefined) return
    caret.current = undefined
    box.current?.setSelectionRange(at, at)
  })
  const offer = (written: string, at: number) => {
    setOffered(completions(written, at, known))
    choose(-1)
  }
  const set = (written: string, at: number) => {
    setText(written)
    offer(written, at)
  }
  const close = () => {
    setOffered([])
    choose(-1)
  }
  const take = ({ from, to, insert }: Completion) => {
    // A field wants its value next, and whatever else is whole a space.
    const more = insert.endsWith(':') || text.slice(to).startsWith(' ') ? '' : ' '
    const written = `${text.slice(0, from)}${insert}${more}${text.slice(to)}`
    caret.current = from + insert.length + more.length
    set(written, caret.current)
    if (more !== '') close()
  }
  const step = (by: number) => choose((chosen + by + offered.length + (chosen < 0 && by < 0 ? 1 : 0)) % offered.length)
  /** Whether it meant the list: then it means nothing else. */
  const pressed = (key: string): boolean => {
    const one = offered[chosen]
    const by = STEPS[key]
    if (key === 'Escape') close()
    else if (by !== undefined) step(by)
    else if (TAKING.has(key) && one !== undefined) take(one)
    else return false
    return true
  }
  const keys = (event: KeyboardEvent) => {
    if (offered.length > 0 && pressed(event.key)) event.preventDefault()
  }
  return { text, set, offered, chosen, choose, close, take, keys }
}

const STEPS: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1 }
const TAKING: ReadonlySet<string> = new Set(['Enter', 'Tab'])
