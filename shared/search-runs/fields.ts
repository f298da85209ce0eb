import { RUN_STATES, SHOWN_STATES } from '../runs/head.ts'
import type { RunRole } from '../runs/run-store.ts'

/** What a field of a query is compared by. */
export type FieldKind = 'name' | 'choice' | 'id' | 'label' | 'subject' | 'time' | 'usd' | 'number' | 'duration'

export interface QueryField {
  readonly kind: FieldKind
  /** One line, for people who write a query. */
  readonly words: string
  readonly example: string
  /** Of a choice: everything that may stand there. */
  readonly values?: readonly string[]
}

/** `RUN_ROLES`, of a module that a page need not load. */
const ROLES: readonly RunRole[] = ['root', 'child', 'research_pipeline']

/** Every field there is, in the order people are shown them. */
export const QUERY_FIELDS = {
  state: {
    kind: 'choice',
    words: 'How the run stands, as the list shows it',
    example: 'state:failed,blocked',
    values: [...RUN_STATES, ...SHOWN_STATES],
  },
  dag: { kind: 'name', words: 'The name of its document', example: 'dag:import*' },
  label: { kind: 'label', words: 'A label, or any value of its key', example: 'label:team=growth' },
  subject: { kind: 'subject', words: 'Whose data it holds', example: 'subject:"customer 4711"' },
  starter: { kind: 'name', words: 'Who started it', example: 'starter:user:ana' },
  time: { kind: 'time', words: 'When it was started', example: 'time:>7d' },
  ended: { kind: 'time', words: 'When it ended', example: 'ended:2026-03-01..2026-03-31' },
  duration: { kind: 'duration', words: 'How long it took, or has taken so far', example: 'duration:>1h30m' },
  cost: { kind: 'usd', words: 'US dollars, as far as prices are known', example: 'cost:>=0.5' },
  tokens: { kind: 'number', words: 'Tokens its calls used', example: 'tokens:>10000' },
  code: { words: 'Why it ended: its code', kind: 'name', example: 'code:user_stopped' },
  role: {
    kind: 'choice',
    words: 'Who started it: a caller, or a block',
    example: 'role:root',
    values: ROLES,
  },
  id: { kind: 'id', words: 'The beginning of its id, 4 characters at least', example: 'id:k3f9' },
} as const satisfies Readonly<Record<string, QueryField>>

export type FieldName = keyof typeof QUERY_FIELDS

export const FIELD_NAMES = Object.keys(QUERY_FIELDS) as readonly FieldName[]

export function isFieldName(name: string): name is FieldName {
  return Object.hasOwn(QUERY_FIELDS, name)
}

/** The same with its type widened, for whoever looks at any of them. */
export function queryField(name: FieldName): QueryField {
  return QUERY_FIELDS[name]
}
