import { useEffect, useMemo, useRef } from 'preact/hooks'
import { readableTriples } from '../../../../shared/graph/opaque-triples.ts'
import {
  type CheckedLine,
  checkedLines,
  isGrounded,
  type SentenceFinding,
  supportCountWords,
} from '../../../../shared/research/claims/check-synthesis.ts'
import { MAY_ANSWER } from '../../../../shared/research/claims/claim-lines.ts'
import type { ShownEvidence } from '../../../../shared/research/claims/shown-evidence.ts'
import type { Evidence } from '../../../../shared/research/payloads/candidate-and-evidence.ts'
import type { operations } from '../../../api/schema.generated.ts'
import { ApiProblem, answerOf, api } from '../../api.ts'
import { Empty, ProblemNotice } from '../../parts/notice.tsx'
import { StateMark } from '../../parts/state-mark.tsx'
import { useAnswer } from '../../parts/use-answer.ts'
import { namedObject } from '../../parts/value-text.ts'
import { ObjectLink, TextValue } from '../../parts/value-view.tsx'
import { changeQuery, hrefOf, route } from '../../route.ts'
import { citedParts, faultWords, type ResearchAnswer } from './research-runs.ts'

/** The question, and the answer sentence by sentence, each held against what is stored now. */
export function ResearchAnswerView({ answer }: { readonly answer: ResearchAnswer }) {
  const { intent, result, degraded, run_id, state, reason } = answer
  const { value: lines, problem } = useAnswer(`checked ${run_id}`, () => checkNow(answer))
  const unchecked = useMemo(
    () => (result?.synthesis ?? '').split('\n').map((text) => ({ text, sentences: [] })),
    [result],
  )
  return (
    <section class="card stack">
      <p class="soft small">Question</p>
      <h2 class="research-topic">{intent.topic}</h2>
      {result === undefined ? (
        <p class="notice tone-bad">
          There is no answer: the run {state}. {reason}
        </p>
      ) : (
        <>
          <p class="row">
            <Verdict answers={result.answers} />
            <StateMark state={state} isQuiet /> <span class="soft small">{reason}</span>
          </p>
          <AnswerLines
            lines={lines ?? unchecked}
            evidence={result.evidence ?? []}
            isAnswer={isAnswer(result.answers)}
          />
          <p class="small" role="status">
            {lines === undefined
              ? problem === undefined && 'Comparing every sentence with what is stored'
              : isAnswer(result.answers)
                ? checkWords(lines)
                : 'Nothing above is claimed to answer the question.'}
          </p>
          {problem !== undefined && <ProblemNotice problem={problem} />}
        </>
      )}
      {degraded.length > 0 && (
        <div class="notice tone-warn">
          <p>
            <strong>The answer is less than it could be</strong>
          </p>
          <ul>
            {degraded.map((why) => (
              <li key={why}>{why}</li>
            ))}
          </ul>
        </div>
      )}
    </section>
  )
}

type Answers = NonNullable<ResearchAnswer['result']>['answers']

/** Results of earlier versions do not say it. */
function isAnswer(answers: Answers): boolean {
  return answers === undefined || answers === 'yes' || answers === 'part'
}

/** Whether there is an answer, before a word of it is read. */
function Verdict({ answers }: { readonly answers: Answers }) {
  if (answers === undefined) return <span class="soft small">Answer</span>
  const [sign, tone, words] = VERDICTS[answers]
  return (
    <strong class={`state verdict tone-${tone}`} data-answers={answers}>
      <span class="sign" aria-hidden="true">
        {sign}
      </span>
      {words}
    </strong>
  )
}

const VERDICTS = {
  yes: ['✓', 'good', 'Answer'],
  part: ['◐', 'warn', 'Answer to a part of the question'],
  maybe: ['?', 'warn', 'No answer, but passages that may answer it'],
  no: ['○', 'quiet', 'No answer'],
} as const

interface LinesProps {
  readonly lines: readonly CheckedLine[]
  readonly evidence: readonly Evidence[]
  readonly isAnswer: boolean
}

/** The claims with their verdicts; passages that may answer stand apart and are no claims. */
function AnswerLines({ lines, evidence, isAnswer: isClaimed }: LinesProps) {
  const from = lines.findIndex(({ text }) => text === MAY_ANSWER)
  const isPassage = (line: CheckedLine, at: number) =>
    !isClaimed && from >= 0 && at > from && !/^(?:Note|Degraded): /.test(line.text)
  const passages = lines.filter(isPassage)
  return (
    <div class="research-answer">
      {lines.map((line, place) =>
        isPassage(line, place) || (place === from && passages.length > 0) ? null : (
          <ResearchLine key={`${place} ${line.text}`} line={line} evidence={evidence} />
        ),
      )}
      {passages.length > 0 && (
        <section class="may-answer" aria-label="Passages that may answer it">
          <p class="soft small">Passages that may answer it, for you to read</p>
          <ul>
            {passages.map(({ text }) => (
              <li key={text}>
                <Cited text={text} evidence={evidence} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  )
}

/** Reads what is cited, nothing else: which items that are does not depend on what they say. */
async function checkNow({ intent, result, degraded }: ResearchAnswer): Promise<readonly CheckedLine[]> {
  if (result === undefined) return []
  const { evidence = [], synthesis } = result
  const said = { topic: intent.topic, synthesis, degraded }
  const lines = checkedLines(said, evidence)
  const places = new Set(lines.flatMap(({ sentences }) => sentences.flatMap((one) => one.places)))
  const stored = await Promise.all(
    evidence.map(async (item, at) => (places.has(at + 1) ? await storedEvidence(item) : item)),
  )
  return checkedLines(said, stored)
}

function checkWords(lines: readonly CheckedLine[]): string {
  const sentences = lines.flatMap((line) => line.sentences)
  if (sentences.length === 0) return 'The answer claims nothing, so there is nothing to check.'
  return `Compared here with what is stored: ${supportCountWords(sentences)}. Words are compared; nobody says that they are true.`
}

interface LineProps {
  readonly line: CheckedLine
  readonly evidence: readonly Evidence[]
}

/** One line of an answer: claims with their verdicts, or a note about the answer. */
function ResearchLine({ line, evidence }: LineProps) {
  if (line.text.trim() === '') return null
  if (line.sentences.length === 0) {
    return (
      <p class="soft">
        <Cited text={line.text} evidence={evidence} />
      </p>
    )
  }
  return (
    <ul class="research-sentences">
      {line.sentences.map((one) => (
        <Sentence key={one.sentence} sentence={one} evidence={evidence} />
      ))}
    </ul>
  )
}

function Sentence({ sentence, evidence }: { readonly sentence: SentenceFinding } & Pick<LineProps, 'evidence'>) {
  const grounded = isGrounded(sentence)
  return (
    <li>
      <span class={`state tone-${grounded ? 'good' : 'bad'}`}>
        <span class="sign" aria-hidden="true">
          {grounded ? '✓' : '✕'}
        </span>
        {sentence.status}
      </span>{' '}
      <span class="research-sentence">
        <Cited text={sentence.sentence} evidence={evidence} />
        {sentence.status === 'supported' && sentence.passage !== undefined && (
          <span class="soft small">
            [{sentence.passage.place}] “{sentence.passage.text}”
          </span>
        )}
        {!grounded && <span class="research-faults small">{faultWords(sentence).join('; ')}</span>}
      </span>
    </li>
  )
}

/** A text whose citations lead to the evidence below it. */
function Cited({ text, evidence }: { readonly text: string; readonly evidence: readonly Evidence[] }) {
  const { parts, query } = route.value
  return (
    <>
      {citedParts(text, evidence).map((part, at) => {
        if (typeof part === 'string') return part
        if (part.place === undefined) return `[${part.ref}]`
        const { tier: _tier, source: _source, ...kept } = query
        return (
          <a
            key={`${at} ${part.ref}`}
            href={hrefOf(parts, { ...kept, evidence: String(part.place) })}
            title={evidence[part.place - 1]?.entity_id}
          >
            [{part.ref}]
          </a>
        )
      })}
    </>
  )
}

type StoredEvidence = Evidence & ShownEvidence
type Entity = operations['get-entity']['responses'][200]['content']['application/json']['entity']

/**
 * An item as the server has it stored now: the entity, its body, the names its edges lead to. What an answer quotes is
 * checked against this and not believed. Of an entity that is gone the snippet is left.
 */
async function storedEvidence(item: Evidence): Promise<StoredEvidence> {
  const params = { path: { entity_id: item.entity_id } }
  const found = await unlessGone(answerOf(api.GET('/api/graph/entities/{entity_id}', { params })))
  if (found === undefined) return { ...item, text: item.snippet_text }
  const { entity } = found
  const body = entity.objectstore_ref === undefined ? undefined : await unlessGone(bodyOf(entity.objectstore_ref))
  const names = await namesBeside(entity)
  const facts = readableTriples((entity.triples ?? []) as never).map(({ predicate, object }) => {
    const text = String(object)
    return isEntityId(text)
      ? { predicate, object: names.get(text) ?? text, object_id: text }
      : { predicate, object: text }
  })
  return { ...item, label: entity.label, text: body ?? entity.snippet ?? item.snippet_text, facts }
}

/** Labels of what it leads to. */
async function namesBeside({ entity_id, triples = [] }: Entity): Promise<ReadonlyMap<string, string>> {
  if (!triples.some(({ object }) => isEntityId(String(object)))) return new Map()
  const params = { path: { entity_id }, query: { direction: 'out', mentions: 'none', limit: 1_000 } } as const
  const { entities } = await answerOf(api.GET('/api/graph/entities/{entity_id}/neighbors', { params }))
  return new Map(entities.flatMap(({ entity_id: id, label }) => (label === undefined ? [] : [[id, label] as const])))
}

async function bodyOf(ref: string): Promise<string> {
  const params = { path: { sha256: ref.split('/').at(-1) ?? '' } }
  return await answerOf(api.GET('/api/objects/{sha256}', { params, parseAs: 'text' }))
}

async function unlessGone<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading
  } catch (error) {
    if (error instanceof ApiProblem && error.status === 404) return undefined
    throw error
  }
}

/** Six segments: what stands in an object of such a form is an edge. */
function isEntityId(text: string): boolean {
  return /^[A-Za-z0-9][\w-]*(?:\.[A-Za-z0-9][\w-]*){5}$/.test(text)
}

type FoundEvidence = NonNullable<NonNullable<ResearchAnswer['result']>['evidence']>[number]
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

function valuesOf(all: readonly FoundEvidence[], member: 'tier' | 'source'): readonly string[] {
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

function Items({ items, places }: { readonly items: readonly FoundEvidence[]; readonly places: readonly number[] }) {
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
  readonly item: FoundEvidence
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
