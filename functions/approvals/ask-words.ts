import type { AskedNote } from '../../shared/runs/run-items.ts'

interface Asking {
  readonly block: string
  readonly about: AskedNote['about']
  readonly gates: readonly { readonly name: string; readonly reason: string }[]
  readonly reason: string
  readonly raise: { readonly tokens?: number | undefined; readonly usd_micros?: number | undefined } | undefined
}

/** The question a person reads: what stands in the way, and what a yes means. */
export function askWords({ block, about, gates, reason, raise }: Asking): string {
  if (about === 'budget')
    return `${reason}\nA yes raises the cap of the run to ${capWords(raise)}, and the block goes on.`
  const lines = gates.map(({ name, reason: why }) => `- ${name}: ${why}`)
  const [what, yes] =
    about === 'pre_gates'
      ? [`Block "${block}" may not begin: its pre-gates do not hold.`, 'Waive them and begin?']
      : [`Block "${block}" is done, but its post-gates do not hold.`, 'Waive them and publish its outputs?']
  return [what, ...lines, yes].join('\n')
}

function capWords({ tokens, usd_micros }: NonNullable<Asking['raise']> = {}): string {
  const words = [
    ...(tokens === undefined ? [] : [`${tokens.toLocaleString('en-US')} tokens`]),
    ...(usd_micros === undefined ? [] : [`$${(usd_micros / 1_000_000).toFixed(6).replace(/0{1,4}$/, '')}`]),
  ]
  return words.join(' and ')
}
