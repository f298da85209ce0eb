/** What runs are counted by, besides `label.KEY`. */
export const COUNT_FIELDS = ['dag', 'state', 'starter', 'code', 'role', 'day'] as const
type CountField = (typeof COUNT_FIELDS)[number]
export type CountBy = CountField | `label.${string}`
