// SPDX-License-Identifier: LGPL-2.1-or-later OR BSD-2-Clause
// A C++ program full of small inlined functions and deep call chains: hot SECONDS
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <unordered_map>
#include <vector>

namespace shape {

struct Visitor;

struct Node {
	virtual ~Node() = default;
	virtual double value(int depth) const = 0;
};

struct Leaf : Node {
	explicit Leaf(double number) : number(number) {}
	double value(int) const override { return number * 1.0000001; }
	double number;
};

template <typename Combine> struct Branch : Node {
	Branch(std::unique_ptr<Node> left, std::unique_ptr<Node> right)
		: left(std::move(left)), right(std::move(right))
	{
	}
	__attribute__((noinline)) double value(int depth) const override
	{
		return Combine{}(left->value(depth + 1), right->value(depth + 1));
	}
	std::unique_ptr<Node> left, right;
};

struct Sum {
	double operator()(double a, double b) const { return a + b; }
};
struct Mean {
	double operator()(double a, double b) const { return (a + b) / 2; }
};
struct Longer {
	double operator()(double a, double b) const { return std::max(a, b); }
};

std::unique_ptr<Node> build(unsigned depth, unsigned seed)
{
	if (depth == 0)
		return std::make_unique<Leaf>(seed % 97);
	auto left = build(depth - 1, seed * 3 + 1), right = build(depth - 1, seed * 5 + 2);
	switch (seed % 3) {
	case 0:
		return std::make_unique<Branch<Sum>>(std::move(left), std::move(right));
	case 1:
		return std::make_unique<Branch<Mean>>(std::move(left), std::move(right));
	default:
		return std::make_unique<Branch<Longer>>(std::move(left), std::move(right));
	}
}

} // namespace shape

template <typename Key> __attribute__((noinline)) uint64_t count_words(const std::vector<Key> &words)
{
	std::unordered_map<Key, uint64_t> counts;
	std::map<Key, uint64_t> ordered;
	for (const Key &word : words)
		counts[word]++;
	for (const auto &[word, count] : counts)
		ordered[word] += count;
	return std::accumulate(ordered.begin(), ordered.end(), uint64_t{0},
			       [](uint64_t sum, const auto &pair) { return sum * 31 + pair.second; });
}

__attribute__((noinline)) uint64_t sort_words(std::vector<std::string> words)
{
	std::sort(words.begin(), words.end(), [](const std::string &a, const std::string &b) {
		return a.size() != b.size() ? a.size() < b.size() : a < b;
	});
	return std::hash<std::string>{}(words[words.size() / 2]);
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? std::atof(argv[1]) : 1;
	auto tree = shape::build(14, 1);
	std::vector<std::string> words;
	for (unsigned i = 0; i < 2000; i++)
		words.push_back(std::to_string(i * 2654435761u % 5003));
	uint64_t sum = 0;
	for (auto begin = std::chrono::steady_clock::now();
	     std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < seconds;) {
		sum += static_cast<uint64_t>(tree->value(0));
		sum += count_words(words) + sort_words(words);
	}
	std::printf("%llu\n", static_cast<unsigned long long>(sum));
}
