/** The five stages, in order; a state of the machine and a function have these names. */
export const STAGES = [
  'nl_classify',
  'route_search',
  'execute_subqueries',
  'assess_sufficiency',
  'synthesize_answer',
] as const
export type Stage = (typeof STAGES)[number]
