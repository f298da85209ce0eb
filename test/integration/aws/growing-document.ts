/** Five blocks side by side, each after two of those before it. */
export function growingDocument(blocks: number, name = 'large'): string {
  const lines = Array.from({ length: blocks }, (_, i) => {
    const above = i - WIDTH
    const upstream = above < 0 ? [] : [above, above % WIDTH === WIDTH - 1 ? above - 1 : above + 1]
    const inputs = upstream.map((from, n) => `i${n}: { from: b${from}.text }`).join(', ')
    const given = inputs === '' ? '' : ` inputs: { ${inputs} },`
    return `  - { id: b${i},${given} outputs: { text: { type: string } }, agent: { provider: local, model: outline, prompt: p } }`
  })
  return `name: ${name}\nblocks:\n${lines.join('\n')}\n`
}

const WIDTH = 5
