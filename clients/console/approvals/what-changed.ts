import type { Approval } from './decision.ts'

/** What is other than it was when the reader saw it: names of shown values, and words for the rest. */
export function changesOf(seen: Approval, now: Approval): readonly string[] {
  const names = [...new Set([...Object.keys(seen.shown_refs), ...Object.keys(now.shown_refs)])]
  const values = names.filter((name) => seen.shown_refs[name]?.sha256 !== now.shown_refs[name]?.sha256)
  const prompt = seen.prompt === now.prompt ? [] : ['the prompt']
  const all = [...values, ...prompt]
  // The digest is of values, prompt, the block as it is defined, and what a yes lets happen behind it.
  return all.length === 0 && seen.digest !== now.digest ? ["the block's definition or what a yes lets happen"] : all
}
