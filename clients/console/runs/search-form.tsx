import { useId, useState } from 'preact/hooks'
import {
  type KnownValues,
  quotedValue,
  valueInQuery,
  withValue,
  withWords,
  wordsOfQuery,
} from '../../../shared/search-runs/edit.ts'
import { type FieldName, queryField } from '../../../shared/search-runs/fields.ts'
import { lookOf } from '../parts/state-mark.tsx'

interface FormProps {
  readonly q: string
  readonly known: KnownValues
  readonly onSearch: (q: string) => void
}

/** A search for whoever does not know the language: each field writes its term of the query above. */
export function SearchForm({ q, known, onSearch }: FormProps) {
  const write = (field: FieldName, value: string) => onSearch(withValue(q, field, value))
  const field = (name: FieldName) => ({ name, q, write })
  return (
    <div class="search-form">
      <TextField
        label="Words"
        hint="of inputs, outputs, and why it failed"
        value={wordsOfQuery(q)}
        onText={(words) => onSearch(withWords(q, words))}
      />
      <Choice {...field('state')} label="State" options={STATES.map((state) => [state, stateWords(state)])} />
      <NameField {...field('dag')} label="Document" known={known.dag} />
      <NameField {...field('label')} label="Label" hint="KEY or KEY=VALUE" known={known.label} />
      <NameField {...field('starter')} label="Started by" known={known.starter} />
      <NameField {...field('code')} label="Ended with code" known={known.code} />
      <Choice {...field('time')} label="Started" options={TIMES} />
      <Choice {...field('duration')} label="Took" options={DURATIONS} />
      <Choice {...field('cost')} label="Cost" options={COSTS} />
      <Choice {...field('role')} label="Kind" options={KINDS} />
    </div>
  )
}

type Options = readonly (readonly [value: string, words: string])[]

const STATES = queryField('state').values ?? []

function stateWords(state: string): string {
  const look = lookOf(state)
  return `${look.sign} ${look.label}`
}

const TIMES: Options = [
  ['1h', 'in the last hour'],
  ['24h', 'in the last day'],
  ['7d', 'in the last 7 days'],
  ['30d', 'in the last 30 days'],
  ['<30d', 'longer ago'],
]
const DURATIONS: Options = [
  ['<10s', 'less than 10 seconds'],
  ['>1m', 'more than a minute'],
  ['>1h', 'more than an hour'],
  ['>1d', 'more than a day'],
]
const COSTS: Options = [
  ['>0', 'something'],
  ['>=0.1', '$0.10 or more'],
  ['>=1', '$1 or more'],
  ['>=10', '$10 or more'],
]
const KINDS: Options = [
  ['root', 'started by a caller'],
  ['child', 'started by a block'],
  ['research_pipeline', 'research'],
]

interface FieldProps {
  readonly name: FieldName
  readonly label: string
  readonly q: string
  readonly write: (field: FieldName, value: string) => void
}

/** What the query says besides stays an option of its own. */
function Choice({ name, label, q, write, options }: FieldProps & { readonly options: Options }) {
  const value = valueInQuery(q, name) ?? ''
  const isOwn = value !== '' && options.every(([one]) => one !== value)
  return (
    <label>
      {label}
      <select value={value} onChange={({ currentTarget }) => write(name, currentTarget.value)}>
        <option value="">any</option>
        {isOwn && <option value={value}>{value}</option>}
        {options.map(([one, words]) => (
          <option key={one} value={one}>
            {words}
          </option>
        ))}
      </select>
    </label>
  )
}

interface NameProps extends FieldProps {
  readonly hint?: string
  readonly known: readonly string[] | undefined
}

function NameField({ name, label, hint, q, write, known = [] }: NameProps) {
  const id = useId()
  return (
    <>
      <TextField
        label={label}
        hint={hint}
        list={id}
        value={valueInQuery(q, name) ?? ''}
        onText={(typed) => write(name, typed === '' ? '' : quotedValue(typed))}
      />
      <datalist id={id}>
        {known.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </>
  )
}

interface TextProps {
  readonly label: string
  readonly hint?: string | undefined
  readonly list?: string
  readonly value: string
  readonly onText: (text: string) => void
}

/** Written when it is left, or with Enter. */
function TextField({ label, hint, list, value, onText }: TextProps) {
  return (
    <label>
      {label}
      <input
        type="search"
        list={list}
        placeholder={hint}
        value={value}
        onChange={({ currentTarget }) => onText(currentTarget.value.trim())}
      />
    </label>
  )
}

/** Whether the form is open: it stays as it is while the page is. */
export function useFormShown(): readonly [boolean, () => void] {
  const [isShown, setShown] = useState(false)
  return [isShown, () => setShown((old) => !old)]
}
