/** The operators of a metric_threshold, `tolerance` in favour of the metric; `!=` must be further away than it. */
export const COMPARISONS = {
  '>=': (actual, target, tolerance) => actual >= target - tolerance,
  '>': (actual, target, tolerance) => actual > target - tolerance,
  '<=': (actual, target, tolerance) => actual <= target + tolerance,
  '<': (actual, target, tolerance) => actual < target + tolerance,
  '==': (actual, target, tolerance) => Math.abs(actual - target) <= tolerance,
  '!=': (actual, target, tolerance) => Math.abs(actual - target) > tolerance,
} as const satisfies Readonly<Record<string, (actual: number, target: number, tolerance: number) => boolean>>

export type Operator = keyof typeof COMPARISONS

// The keys of an object literal are its keys.
export const OPERATORS = Object.keys(COMPARISONS) as readonly Operator[]
