/** A body of evidence, what may be said of it, and what may not, each in one way of getting it wrong. */
export interface Told {
  readonly label: string
  readonly text: string
  readonly right: readonly string[]
  readonly wrong: readonly (readonly [way: Way, sentence: string])[]
}

export type Way =
  | 'negation added'
  | 'negation dropped'
  | 'other number'
  | 'other unit'
  | 'other name'
  | 'roles turned round'
  | 'other quantifier'
  | 'bound turned round'
  | 'other time'
  | 'hedge dropped'
  | 'condition dropped'
  | 'attribution dropped'
  | 'antonym'
  | 'quotation cut'
  | 'false quotation'
  | 'two facts mixed'
  | 'other scale'
  | 'invented detail'
  | 'plan told as done'
  | 'other relation'

/** Twenty bodies of as many subjects: five right sentences each, and five wrong ones. */
export const TOLD: readonly Told[] = [
  {
    label: 'Lake Maren',
    text: 'Lake Maren covers 212 square kilometres in northern Velia. Its deepest point lies 87 metres below the surface. The lake does not freeze in winter. Most of its water comes from the river Isk. Fishing was banned in 2016.',
    right: [
      'Lake Maren covers 212 square kilometres',
      'Lake Maren covers 212 km² in northern Velia',
      'The lake does not freeze in winter',
      'Most of its water comes from the river Isk',
      'Fishing was banned in 2016',
    ],
    wrong: [
      ['negation dropped', 'The lake freezes in winter'],
      ['other unit', 'Lake Maren covers 212 square miles in northern Velia'],
      ['other quantifier', 'All of its water comes from the river Isk'],
      ['other time', 'Fishing was banned in 2018'],
      ['other number', 'Its deepest point lies 78 metres below the surface'],
    ],
  },
  {
    label: 'Orbit 9',
    text: 'Orbit 9 was launched on 3 May 2019 from Kourou. The satellite weighs 1,450 kg and circles the Earth at 705 km. According to the operator, its camera resolves 30 cm. A second satellite is planned for 2027. Contact was never lost.',
    right: [
      'Orbit 9 was launched on 3 May 2019',
      'The satellite weighs 1450 kilograms',
      'According to the operator, its camera resolves 30 cm',
      'A second satellite is planned for 2027',
      'Contact was never lost',
    ],
    wrong: [
      ['attribution dropped', 'Its camera resolves 30 cm'],
      ['plan told as done', 'A second satellite was launched in 2027'],
      ['negation dropped', 'Contact was lost'],
      ['other unit', 'The satellite weighs 1,450 tonnes'],
      ['two facts mixed', 'Orbit 9 circles the Earth at 1,450 km'],
    ],
  },
  {
    label: 'Halden Bank',
    text: 'Halden Bank bought Nordsee Credit in 2011. The bank employs 3,200 people. Profits fell by 12 percent in 2023. The regulator may fine the bank if it misses the deadline. Clara Voss has led the bank since 2020.',
    right: [
      'Halden Bank bought Nordsee Credit',
      'The bank employs 3,200 people',
      'Profits fell by 12% in 2023',
      'The regulator may fine the bank if it misses the deadline',
      'Clara Voss has led the bank since 2020',
    ],
    wrong: [
      ['roles turned round', 'Nordsee Credit bought Halden Bank in 2011'],
      ['antonym', 'Profits rose by 12 percent in 2023'],
      ['condition dropped', 'The regulator may fine the bank'],
      ['hedge dropped', 'The regulator fined the bank if it misses the deadline'],
      ['other name', 'Karl Voss has led the bank since 2020'],
    ],
  },
  {
    label: 'Sorvia',
    text: 'Sorvia is a fern of the southern islands. It grows up to two metres tall. The leaves are not poisonous. Some populations are threatened by goats. The species was described by Ida Brandt in 1884.',
    right: [
      'Sorvia is a fern of the southern islands',
      'The leaves are not poisonous',
      "The leaves aren't poisonous",
      'Some populations are threatened by goats',
      'The species was described by Ida Brandt',
    ],
    wrong: [
      ['negation dropped', 'The leaves are poisonous'],
      ['other quantifier', 'Most populations are threatened by goats'],
      ['roles turned round', 'Ida Brandt was described by the species in 1884'],
      ['bound turned round', 'It grows at least two metres tall'],
      ['quotation cut', '“poisonous”'],
    ],
  },
  {
    label: 'Route 14',
    text: 'Route 14 links Tamber and Oslund over 96 km. The bridge at Vik carries at most 40 tonnes. Trucks over 12 metres are not allowed. The road was closed for 11 days in January 2022. The council plans a tunnel under the pass.',
    right: [
      'Route 14 links Tamber and Oslund',
      'The bridge at Vik carries at most 40 tonnes',
      'Trucks over 12 metres are not allowed',
      'The road was closed for 11 days in January 2022',
      'The council plans a tunnel under the pass',
    ],
    wrong: [
      ['bound turned round', 'The bridge at Vik carries at least 40 tonnes'],
      ['negation dropped', 'Trucks over 12 metres are allowed'],
      ['plan told as done', 'The council built a tunnel under the pass'],
      ['other unit', 'The road was closed for 11 weeks in January 2022'],
      ['other name', 'Route 14 links Tamber and Bergund'],
    ],
  },
  {
    label: 'Calvex',
    text: 'Calvex lowers blood pressure within 30 minutes. The drug must not be taken with alcohol. In a trial with 240 patients, 18 had headaches. It is unclear whether it helps children. The patent expired in 2015.',
    right: [
      'Calvex lowers blood pressure within 30 minutes',
      'The drug must not be taken with alcohol',
      'In a trial with 240 patients, 18 had headaches',
      'It is unclear whether it helps children',
      'The patent expired in 2015',
    ],
    wrong: [
      ['negation dropped', 'The drug must be taken with alcohol'],
      ['antonym', 'Calvex raises blood pressure within 30 minutes'],
      ['two facts mixed', 'In a trial with 18 patients, 240 had headaches'],
      ['quotation cut', '“it helps children”'],
      ['other unit', 'Calvex lowers blood pressure within 30 seconds'],
    ],
  },
  {
    label: 'Mira Holt',
    text: 'Mira Holt, who was born in Ghent, composed four operas. Her teacher was Anton Reuss. She never recorded her own songs. Critics claimed that she copied Reuss. Holt won the Lyra Prize in 1998.',
    right: [
      'Mira Holt composed four operas',
      'Mira Holt composed 4 operas',
      'She never recorded her own songs',
      'Critics claimed that she copied Reuss',
      'Holt won the Lyra Prize in 1998',
    ],
    wrong: [
      ['attribution dropped', 'She copied Reuss'],
      ['negation dropped', 'She recorded her own songs'],
      ['other relation', 'Anton Reuss was her brother'],
      ['other time', 'Holt won the Lyra Prize in 1989'],
      ['invented detail', 'Mira Holt composed four operas in Paris'],
    ],
  },
  {
    label: 'Kernel Gate',
    text: 'Kernel Gate handles 8,000 requests per second on one core. Version 3 removed the plugin system. The server does not log passwords. Encryption is off unless a key is set. About half of the users run version 2.',
    right: [
      'Kernel Gate handles 8000 requests per second',
      'Version 3 removed the plugin system',
      'The server does not log passwords',
      'Encryption is off unless a key is set',
      'About half of the users run version 2',
    ],
    wrong: [
      ['condition dropped', 'Encryption is off'],
      ['other unit', 'Kernel Gate handles 8,000 requests per minute on one core'],
      ['negation dropped', 'The server logs passwords'],
      ['other number', 'Version 2 removed the plugin system'],
      ['other quantifier', 'All of the users run version 2'],
    ],
  },
  {
    label: 'Port of Arden',
    text: 'The Port of Arden moved 5.2 million containers in 2021. It is the largest port on the coast. Oil tankers are not served. Wages rose from 18 to 21 euros per hour. A strike was averted by the mayor.',
    right: [
      'The Port of Arden moved 5.2 million containers in 2021',
      'In 2021, the Port of Arden moved 5.2 million containers',
      'It is the largest port on the coast',
      'Oil tankers are not served',
      'A strike was averted by the mayor',
    ],
    wrong: [
      ['other scale', 'The Port of Arden moved 5.2 thousand containers in 2021'],
      ['negation dropped', 'Oil tankers are served'],
      ['two facts mixed', 'Wages rose from 21 to 18 euros per hour'],
      ['roles turned round', 'The mayor was averted by a strike'],
      ['antonym', 'It is the smallest port on the coast'],
    ],
  },
  {
    label: 'Tellan',
    text: 'Tellan is spoken by 45,000 people. The language has no grammatical gender. It is probably related to Karic. Few children learn it at school. The first dictionary appeared in 1742.',
    right: [
      'Tellan is spoken by 45,000 people',
      'The language has no grammatical gender',
      'It is probably related to Karic',
      'Few children learn it at school',
      'The first dictionary appeared in 1742',
    ],
    wrong: [
      ['hedge dropped', 'It is related to Karic'],
      ['negation dropped', 'The language has grammatical gender'],
      ['other quantifier', 'Many children learn it at school'],
      ['other scale', 'Tellan is spoken by 45 million people'],
      ['false quotation', '“The second dictionary appeared in 1742.”'],
    ],
  },
  {
    label: 'Brunn Mine',
    text: 'Brunn Mine produced 60 tonnes of silver before it closed in 1931. Water flooded the lower galleries. No miner was hurt. The owners denied that gas was found. Tourists may visit the upper level in summer.',
    right: [
      'Water flooded the lower galleries',
      'No miner was hurt',
      'The owners denied that gas was found',
      'Tourists may visit the upper level in summer',
      'Brunn Mine produced 60 tonnes of silver before it closed in 1931',
    ],
    wrong: [
      ['negation dropped', 'A miner was hurt'],
      ['quotation cut', '“gas was found”'],
      ['attribution dropped', 'Gas was found'],
      ['antonym', 'Tourists may visit the lower level in summer'],
      ['bound turned round', 'Brunn Mine produced 60 tonnes of silver after it closed in 1931'],
    ],
  },
  {
    label: 'Team Fjell',
    text: 'Team Fjell beat Team Strand 3 to 1 in the final. The match lasted 94 minutes. Eva Lind scored twice. No red card was shown. Fjell had lost the first leg.',
    right: [
      'Team Fjell beat Team Strand',
      'Team Fjell beat Team Strand 3 to 1 in the final',
      'The match lasted 94 minutes',
      'Eva Lind scored twice',
      'No red card was shown',
    ],
    wrong: [
      ['roles turned round', 'Team Strand beat Team Fjell 3 to 1 in the final'],
      ['negation added', 'The match did not last 94 minutes'],
      ['negation dropped', 'A red card was shown'],
      ['antonym', 'Fjell had won the first leg'],
      ['other name', 'Eva Strand scored twice'],
    ],
  },
  {
    label: 'Statute 77',
    text: 'Statute 77 applies to firms with more than 50 employees. Owners shall report within 14 days. Farms are exempt. A fine of up to 20,000 euros is possible. The court has not yet ruled on the statute.',
    right: [
      'Statute 77 applies to firms with more than 50 employees',
      'Owners shall report within 14 days',
      'Farms are exempt',
      'A fine of up to 20,000 euros is possible',
      'The court has not yet ruled on the statute',
    ],
    wrong: [
      ['bound turned round', 'Statute 77 applies to firms with fewer than 50 employees'],
      ['negation added', 'Farms are not exempt'],
      ['negation dropped', 'The court has ruled on the statute'],
      ['condition dropped', 'Statute 77 applies to firms'],
      ['other unit', 'A fine of up to 20,000 dollars is possible'],
    ],
  },
  {
    label: 'Hotel Aurum',
    text: 'Hotel Aurum has 118 rooms on nine floors. Dogs are welcome except in the restaurant. Breakfast costs 19 euros. The pool was closed in 2020 and reopened in 2022. Guests reported that the lift failed.',
    right: [
      'Hotel Aurum has 118 rooms',
      'Hotel Aurum has 118 rooms on 9 floors',
      'Dogs are welcome except in the restaurant',
      'Breakfast costs 19 euros',
      'Guests reported that the lift failed',
    ],
    wrong: [
      ['condition dropped', 'Dogs are welcome'],
      ['two facts mixed', 'Hotel Aurum has nine rooms on 118 floors'],
      ['other time', 'The pool was closed in 2022'],
      ['attribution dropped', 'The lift failed'],
      ['negation added', 'Breakfast never costs 19 euros'],
    ],
  },
  {
    label: 'Varo Reactor',
    text: 'The Varo Reactor supplies 900 megawatts. It was built by Skand Energi between 1974 and 1981. Inspectors found no cracks. The operator expects to close it by 2035. Cooling water is at least 4 degrees warmer than the sea.',
    right: [
      'The Varo Reactor supplies 900 megawatts',
      'The Varo Reactor supplies 900 MW',
      'It was built by Skand Energi between 1974 and 1981',
      'Inspectors found no cracks',
      'The operator expects to close it by 2035',
    ],
    wrong: [
      ['negation dropped', 'Inspectors found cracks'],
      ['plan told as done', 'The operator closed it by 2035'],
      ['other unit', 'The Varo Reactor supplies 900 kilowatts'],
      ['bound turned round', 'Cooling water is at most 4 degrees warmer than the sea'],
      ['other relation', 'It was inspected by Skand Energi between 1974 and 1981'],
    ],
  },
  {
    label: 'Dunmore Library',
    text: 'Dunmore Library lends 1.1 million books a year. It opened in 1907, and the annex opened in 1968. Members under 16 pay nothing. Nobody was blamed for the fire. The roof is made of copper.',
    right: [
      'Dunmore Library lends 1.1 million books a year',
      'Dunmore Library lends 1,100,000 books a year',
      'Members under 16 pay nothing',
      'Nobody was blamed for the fire',
      'The roof is made of copper',
    ],
    wrong: [
      ['two facts mixed', 'The annex opened in 1907'],
      ['bound turned round', 'Members over 16 pay nothing'],
      ['negation dropped', 'Members under 16 pay'],
      ['other scale', 'Dunmore Library lends 1.1 billion books a year'],
      ['false quotation', '“The roof is made of tin.”'],
    ],
  },
  {
    label: 'Osk Glacier',
    text: 'The Osk Glacier lost 14 metres of ice between 2000 and 2020. Scientists predict that it will vanish by 2080. It feeds three rivers. Its tongue has not reached the valley since 1910. The ice holds almost no dust.',
    right: [
      'The Osk Glacier lost 14 metres of ice between 2000 and 2020',
      'Scientists predict that it will vanish by 2080',
      'It feeds three rivers',
      'It feeds 3 rivers',
      'Its tongue has not reached the valley since 1910',
    ],
    wrong: [
      ['attribution dropped', 'It will vanish by 2080'],
      ['antonym', 'The Osk Glacier gained 14 metres of ice between 2000 and 2020'],
      ['negation dropped', 'Its tongue has reached the valley since 1910'],
      ['hedge dropped', 'The ice holds no dust'],
      ['other number', 'It feeds four rivers'],
    ],
  },
  {
    label: 'Cresta Foods',
    text: 'Cresta Foods recalled 12,000 jars of honey. Customers who ate it were not harmed. The glass came from a supplier in Brno. Sales doubled after the recall. The firm has not paid any damages.',
    right: [
      'Cresta Foods recalled 12,000 jars of honey',
      'Cresta Foods recalled twelve thousand jars of honey',
      'The glass came from a supplier in Brno',
      'Sales doubled after the recall',
      'The firm has not paid any damages',
    ],
    wrong: [
      ['negation dropped', 'Customers who ate it were harmed'],
      ['antonym', 'Sales halved after the recall'],
      ['bound turned round', 'Sales doubled before the recall'],
      ['other name', 'The glass came from a supplier in Graz'],
      ['invented detail', 'Cresta Foods recalled 12,000 jars of honey from Italy'],
    ],
  },
  {
    label: 'Nuria Peak',
    text: 'Nuria Peak rises 3,884 metres above sea level. It was first climbed by Hanna Eik in 1903. The north face is harder than the south face. Every climber needs a permit. Without oxygen only two parties succeeded.',
    right: [
      'Nuria Peak rises 3884 metres above sea level',
      'It was first climbed by Hanna Eik',
      'The north face is harder than the south face',
      'Every climber needs a permit',
      'Without oxygen only two parties succeeded',
    ],
    wrong: [
      ['roles turned round', 'The south face is harder than the north face'],
      ['negation added', 'No climber needs a permit'],
      ['other unit', 'Nuria Peak rises 3,884 feet above sea level'],
      ['condition dropped', 'Only two parties succeeded'],
      ['other time', 'It was first climbed by Hanna Eik in 1930'],
    ],
  },
  {
    label: 'Delta Clinic',
    text: 'Delta Clinic treated 6,400 patients last year. Waiting times dropped from 9 to 5 weeks. The clinic refuses to publish its prices. Surgery is offered only on weekdays. Doctor Amara Obi heads the ward.',
    right: [
      'Delta Clinic treated 6,400 patients last year',
      'Waiting times dropped from 9 to 5 weeks',
      'The clinic refuses to publish its prices',
      'Surgery is offered only on weekdays',
      'Doctor Amara Obi heads the ward',
    ],
    wrong: [
      ['negation dropped', 'The clinic publishes its prices'],
      ['two facts mixed', 'Waiting times dropped from 5 to 9 weeks'],
      ['condition dropped', 'Surgery is offered'],
      ['other name', 'Doctor Amara Ota heads the ward'],
      ['other number', 'Delta Clinic treated 4,600 patients last year'],
    ],
  },
]
