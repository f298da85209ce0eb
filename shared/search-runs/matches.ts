import type { RunFacts } from '../runs/facts-index.ts'
import { subjectDigest } from '../runs/subject.ts'
import type { Condition, RunQuery } from './query.ts'
import type { Range } from './range.ts'

/** Whether every condition holds of a run; of words the index alone knows (search.ts). */
export function matches({ conditions }: Pick<RunQuery, 'conditions'>, facts: RunFacts, now: number): boolean {
  return conditions.every((condition) => holds(condition, facts, now) !== condition.negated)
}

function holds(condition: Condition, facts: RunFacts, now: number): boolean {
  switch (condition.field) {
    case 'dag':
    case 'starter':
    case 'code': {
      const is = condition.field === 'dag' ? facts.dag_name : facts[condition.field]
      return is !== undefined && condition.any.some(({ name, begins }) => (begins ? is.startsWith(name) : is === name))
    }
    case 'state':
      return condition.any.includes(facts.state)
    case 'role':
      return condition.any.some((role) => facts.roles.includes(role))
    case 'id':
      return condition.any.some((begins) => facts.run_id.startsWith(begins))
    case 'subject':
      return condition.any.some((subject) => facts.subjects?.includes(subjectDigest(subject)) === true)
    case 'label':
      return condition.any.some(({ key, value }) => {
        if (!Object.hasOwn(facts.labels, key)) return false
        return value === undefined || facts.labels[key] === value
      })
    default:
      return isWithin(condition.range, measured(condition.field, facts, now))
  }
}

function measured(
  field: 'time' | 'ended' | 'duration' | 'cost' | 'tokens',
  { created_at, ended_at, usd_micros, tokens }: RunFacts,
  now: number,
): number | undefined {
  if (field === 'cost') return usd_micros
  if (field === 'tokens') return tokens
  if (field === 'time') return Date.parse(created_at)
  const ended = ended_at === undefined ? undefined : Date.parse(ended_at)
  return field === 'ended' ? ended : (ended ?? now) - Date.parse(created_at)
}

function isWithin({ min, max, above, below }: Range, value: number | undefined): boolean {
  if (value === undefined) return false
  if (min !== undefined && (above === true ? value <= min : value < min)) return false
  return max === undefined || (below === true ? value < max : value <= max)
}
