// Counts the words of every text file in the folder it is given, and writes words.json there.
//
//   nova run examples/words.js --work docs
import * as fs from "fs";

const counts = new Map();
let files = 0;

function visit(folder) {
  for (const name of fs.readdirSync(folder).sort()) {
    const path = `${folder}/${name}`;
    if (fs.statSync(path).isDirectory()) {
      visit(path);
    } else if (/\.(md|txt|csv)$/.test(name)) {
      files += 1;
      const text = fs.readFileSync(path, "utf8");
      for (const [word] of text.toLowerCase().matchAll(/\p{L}{4,}/gu)) {
        counts.set(word, (counts.get(word) ?? 0) + 1);
      }
    }
  }
}

visit("/work");
const most = [...counts].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 100);
fs.writeFileSync("/work/words.json", JSON.stringify(Object.fromEntries(most), null, 2) + "\n");

console.log(`${files} files, ${counts.size} different words`);
for (const [word, count] of most.slice(0, 8)) {
  console.log(String(count).padStart(6), word);
}
